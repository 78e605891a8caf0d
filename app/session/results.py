"""What was computed with one model of the operator's list: so much of it as may lie in memory, gone when the model goes."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from torch import Tensor

MOST_BYTES = 256 * 1024**2  # of one model; a single trace of a large model may be tens of megabytes
MOST = 512  # results, however small


class Kept:
    """The results used last. Two who ask for the same at once wait for one computation; what fails is not kept."""

    def __init__(self, most_bytes: int = MOST_BYTES, most: int = MOST) -> None:
        self.most_bytes, self.most = most_bytes, most
        self.lock = threading.Lock()
        self.turns: dict[Hashable, threading.RLock] = {}
        self.values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self.bytes = 0

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What was made under this key, or is made now."""
        with self.lock:
            if key in self.values:
                return self._found(key)
            turn = self.turns.setdefault(key, threading.RLock())
        with turn:
            with self.lock:
                if key in self.values:
                    return self._found(key)
            try:
                value = make()
                self._put(key, value, size(value))
            finally:
                with self.lock:
                    self.turns.pop(key, None)
        return value

    def _found(self, key: Hashable) -> Any:
        self.values.move_to_end(key)
        return self.values[key][0]

    def _put(self, key: Hashable, value: Any, size: int) -> None:
        with self.lock:
            _, before = self.values.pop(key, (None, 0))  # somebody may have made it at the same time
            self.values[key] = (value, size)
            self.bytes += size - before
            while len(self.values) > 1 and (self.bytes > self.most_bytes or len(self.values) > self.most):
                _, (_, oldest) = self.values.popitem(last=False)
                self.bytes -= oldest


def size(value: Any) -> int:
    """Bytes of the tensors and arrays in a result, which outweigh all else."""
    if isinstance(value, Tensor | np.ndarray):
        return int(value.nbytes)
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(size, value.values()))
    if isinstance(value, tuple | list):
        return sum(map(size, value))
    if is_dataclass(value):
        return sum(size(getattr(value, one.name)) for one in fields(value))
    return 0
