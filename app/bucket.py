"""How often something may be asked for."""

from dataclasses import dataclass, field


@dataclass
class Bucket:
    """Holds what may still be asked for: at most a minute's worth, filled evenly. It may owe one."""

    per_minute: int
    level: float = field(init=False)
    at: float = 0.0  # when it was last filled

    def __post_init__(self) -> None:
        self.level = float(self.per_minute)

    def wait(self, now: float) -> float:
        """Seconds until there is one to take; 0 if there is."""
        self.level = min(self.per_minute, self.level + max(0.0, now - self.at) * self.per_minute / 60) if self.at else self.level
        self.at = now
        return max(0.0, (1 - self.level) * 60 / self.per_minute)

    def take(self) -> None:
        self.level = max(-1.0, self.level - 1)
