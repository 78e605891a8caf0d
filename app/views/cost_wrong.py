"""What if: counts that are often got wrong, and by how much."""

from app.charts import cost as charts
from app.text import text
from app.views import html
from app.views.cost_shape import Counted
from model.analysis import wrong_costs


def what_if(found: Counted) -> None:
    """The right count, the wrong one, and how far apart they are for this configuration."""
    html.prose("cost.what_if")
    columns = {"cost.wrong": "rich", "cost.wrong_right": "number", "cost.wrong_is": "number", "cost.wrong_times": "number"}
    html.table(
        {text(key): kind for key, kind in columns.items()},
        [_row(found, name) for name in wrong_costs.WRONG],
        text("cost.wrong_caption"),
    )
    html.prose("cost.wrong_note", kind="quiet", most=html.Ours(f"{wrong_costs.MOST_STEPS:,}"))


def _row(found: Counted, name: str) -> tuple[object, ...]:
    right, wrong, times = wrong_costs.beside(found.config, name, found.source, found.target)
    shown = html.small(times, 3) if times < 0.1 else html.number(times, 2)
    return (
        html.sentence(f"cost.wrong_{name}"),
        html.Ours(charts.scaled(right)),
        html.Ours(charts.scaled(wrong)),
        html.Ours(f"× {shown}"),
    )
