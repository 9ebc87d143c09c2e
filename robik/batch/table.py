"""Table of a batch: CSV for programs, and HTML whose columns sort, the worst first."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from ..files import is_number, write_whole

WORST_BY = "position_error_max_m"
TRACE = "error_over_time_m"  # a list: the small plot of a row, over its time
WIDE, HIGH = 160, 28  # of a plot [px]
BINS = 20
SPREAD = ("position_error_max_m", "position_error_mean_m", "slide_mm_s", "floor_penetration_mm", "self_penetration_mm")
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>RobIK batch</title>
<style>
body {{ font: 14px sans-serif; margin: 2em }}
td, th {{ padding: 0.2em 0.8em; text-align: right; border-bottom: 1px solid #ddd }}
td:first-child, td:last-child {{ text-align: left }}
th {{ cursor: pointer; position: sticky; top: 0; background: white }}
.bar {{ background: linear-gradient(to right, #fa8 var(--share), transparent var(--share)) }}
.wrong {{ color: #b00 }}
polyline {{ fill: none; stroke: #47a; stroke-width: 1.2 }}
rect {{ fill: #fa8 }}
figure {{ display: inline-block; margin: 0 2em 1em 0 }}
</style>
<h1>{title}</h1><p>{told}</p>
{plots}
<table><thead><tr>{heads}</tr></thead><tbody>
{rows}
</tbody></table>
<script>
document.querySelectorAll("th").forEach((head, k) => head.onclick = () => {{
  const body = document.querySelector("tbody"), sign = head.dataset.sign = -(head.dataset.sign || 1);
  const text = row => row.cells[k].dataset.v, number = row => text(row) === "" ? NaN : Number(text(row));
  const order = (a, b) => {{
    const x = number(a), y = number(b);
    if (isNaN(x) && isNaN(y)) return text(a) < text(b) ? -sign : text(a) > text(b) ? sign : 0;
    return isNaN(x) ? 1 : isNaN(y) ? -1 : (x - y) * sign;
  }};
  [...body.rows].sort(order).forEach(row => body.append(row));
}});
</script></html>
"""


def save_tables(rows: Sequence[dict[str, Any]], folder: Path, suffix: str = "") -> None:
    """Write `table.csv` and `table.html`, a shard's with its suffix; raise FormatError if that fails."""
    columns = list(
        dict.fromkeys(["file", *(key for row in rows for key in row if key not in ("error", TRACE)), "error"])
    )
    text = io.StringIO()
    table = csv.DictWriter(text, columns, restval="", lineterminator="\n", extrasaction="ignore")
    table.writeheader()
    table.writerows(rows)
    write_whole(folder / f"table{suffix}.csv", text.getvalue())
    write_whole(folder / f"table{suffix}.html", _page(rows, columns))


def _page(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> str:
    worst = sorted(rows, key=lambda row: (not row.get("error"), -float(row.get(WORST_BY) or 0.0)))
    most = {c: max((float(r[c]) for r in rows if is_number(r.get(c))), default=0.0) for c in columns}
    lines = []
    for row in worst:
        cells = "".join(_cell(row.get(column, ""), most[column], column) for column in columns)
        cells += f'<td data-v="{max(row.get(TRACE) or [0.0])}">{_line(row.get(TRACE) or [])}</td>'
        lines.append(f"<tr{' class=wrong' if row.get('error') else ''}>{cells}</tr>")
    failed = sum(bool(row.get("error")) for row in rows)
    frames = sum(int(row.get("frames") or 0) for row in rows)
    told = f"{len(rows)} recordings, {frames} frames; {failed} could not be followed. Click a column to sort."
    heads = "".join(f"<th>{escape(column.replace('_', ' '))}</th>" for column in [*columns, "error over time"])
    plots = "\n".join(_spread(column, [float(row[column]) for row in rows if is_number(row.get(column))])
                      for column in columns if column in SPREAD)  # fmt: skip
    return PAGE.format(title="Recordings on a robot", told=told, plots=plots, heads=heads, rows="\n".join(lines))


def _line(values: Sequence[float]) -> str:
    """Return a small plot of values over time, from zero to the largest."""
    most = max(values, default=0.0)
    if len(values) < 2 or not most > 0:
        return ""
    points = " ".join(
        f"{k * WIDE / (len(values) - 1):.1f},{HIGH - 1 - (HIGH - 2) * value / most:.1f}"
        for k, value in enumerate(values)
    )
    return f'<svg width="{WIDE}" height="{HIGH}"><polyline points="{points}"/></svg>'


def _spread(column: str, values: Sequence[float]) -> str:
    """Return a small plot of how many recordings have which value."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    if not high > low:
        return ""
    counts = [0] * BINS
    for value in values:
        counts[min(int(BINS * (value - low) / (high - low)), BINS - 1)] += 1
    wide, tall = WIDE / BINS, 2 * HIGH
    bars = "".join(
        f'<rect x="{k * wide:.1f}" y="{tall - tall * count / max(counts):.1f}" width="{wide - 1:.1f}" '
        f'height="{tall * count / max(counts):.1f}"/>'
        for k, count in enumerate(counts)
    )
    name = escape(column.replace("_", " "))
    return (
        f'<figure><svg width="{WIDE}" height="{tall}">{bars}</svg>'
        f"<figcaption>{name}<br>{low:.3g} to {high:.3g}</figcaption></figure>"
    )


def _cell(value: Any, most: float, column: str) -> str:
    if not is_number(value):
        return f'<td data-v="{escape(str(value))}">{escape(str(value))}</td>'
    share = 100.0 * abs(float(value)) / most if most > 0 and column != "frames" else 0.0
    return f'<td class="bar" style="--share:{share:.0f}%" data-v="{value}">{value:.6g}</td>'
