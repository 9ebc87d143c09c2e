"""Table of a batch: CSV for programs, and HTML whose columns sort, the worst first."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from ..files import write_whole

WORST_BY = "position_error_max_m"
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>RobIK batch</title>
<style>
body {{ font: 14px sans-serif; margin: 2em }}
td, th {{ padding: 0.2em 0.8em; text-align: right; border-bottom: 1px solid #ddd }}
td:first-child, td:last-child {{ text-align: left }}
th {{ cursor: pointer; position: sticky; top: 0; background: white }}
.bar {{ background: linear-gradient(to right, #fa8 var(--share), transparent var(--share)) }}
.wrong {{ color: #b00 }}
</style>
<h1>{title}</h1><p>{told}</p>
<table><thead><tr>{heads}</tr></thead><tbody>
{rows}
</tbody></table>
<script>
document.querySelectorAll("th").forEach((head, k) => head.onclick = () => {{
  const body = document.querySelector("tbody"), sign = head.dataset.sign = -(head.dataset.sign || 1);
  const value = row => {{ const t = row.cells[k].dataset.v; return t === "" || isNaN(t) ? t : Number(t) }};
  [...body.rows].sort((a, b) => (value(a) > value(b) ? 1 : -1) * sign).forEach(row => body.append(row));
}});
</script></html>
"""


def save_tables(rows: Sequence[dict[str, Any]], folder: Path, suffix: str = "") -> None:
    """Write `table.csv` and `table.html`.

    Args:
        rows: of the recordings.
        folder: of the files.
        suffix: of their names, of a shard.

    Raises:
        FormatError: they cannot be written.
    """
    columns = list(dict.fromkeys(["file", *(key for row in rows for key in row if key != "error"), "error"]))
    text = io.StringIO()
    table = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    write_whole(folder / f"table{suffix}.csv", text.getvalue())
    write_whole(folder / f"table{suffix}.html", _page(rows, columns))


def _page(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> str:
    worst = sorted(rows, key=lambda row: (not row.get("error"), -float(row.get(WORST_BY) or 0.0)))
    most = {c: max((float(str(v)) for r in rows if _is_number(v := r.get(c))), default=0.0) for c in columns}
    lines = []
    for row in worst:
        cells = "".join(_cell(row.get(column, ""), most[column], column) for column in columns)
        lines.append(f"<tr{' class=wrong' if row.get('error') else ''}>{cells}</tr>")
    failed = sum(bool(row.get("error")) for row in rows)
    frames = sum(int(row.get("frames") or 0) for row in rows)
    told = f"{len(rows)} recordings, {frames} frames; {failed} could not be followed. Click a column to sort."
    heads = "".join(f"<th>{escape(column.replace('_', ' '))}</th>" for column in columns)
    return PAGE.format(title="Recordings on a robot", told=told, heads=heads, rows="\n".join(lines))


def _cell(value: Any, most: float, column: str) -> str:
    if not _is_number(value):
        return f'<td data-v="{escape(str(value))}">{escape(str(value))}</td>'
    share = 100.0 * abs(float(value)) / most if most > 0 and column != "frames" else 0.0
    return f'<td class="bar" style="--share:{share:.0f}%" data-v="{value}">{value:.6g}</td>'


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
