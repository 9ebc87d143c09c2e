"""Report of a recording as a page: a table, and per servo a drawing of goal, position and error over time."""

from __future__ import annotations

from html import escape
from math import isfinite, nan
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...files import write_whole
from ..port.recording import Recording

WIDTH, HEIGHT, POINTS = 900, 150, 900  # of a drawing [px]; and points of a line, at most
STYLE = """body{font:14px sans-serif;margin:2em;max-width:70em}table{border-collapse:collapse}
td,th{padding:2px 12px;text-align:right}
td:first-child,th:first-child{text-align:left}tr:nth-child(even){background:#eee}svg{background:#fafafa;display:block}
.goal{stroke:#888}.position{stroke:#06c}.error{stroke:#c30}polyline{fill:none;stroke-width:1.2}text{font-size:11px;fill:#666}"""


class TrackingRow(NamedTuple):
    """Tracking of a servo in a recording."""

    name: str  # of the servo
    mean: float  # root mean square of the error [rad or m]
    worst: float  # largest error [rad or m]
    lag: float  # [s]
    hottest: float  # highest temperature [°C]
    current: float  # highest current [A], NaN where it is not measured


def tracking_table(recording: Recording) -> list[TrackingRow]:
    """Return a row of figures per servo; all are NaN for one that was never seen."""
    return [TrackingRow(name, *_tracking(recording, k)) for k, name in enumerate(recording.names)]


def _tracking(recording: Recording, k: int) -> tuple[float, float, float, float, float]:
    seen = np.isfinite(recording.position[:, k])
    if not seen.any():
        return (nan,) * 5
    error, current = recording.error[seen, k], np.abs(recording.current[seen, k])
    root = float(np.sqrt((error**2).mean()))
    return (
        root,
        float(np.abs(error).max()),
        float(recording.lag[k]),
        float(recording.celsius[seen, k].max()),
        float(current.max()),
    )


def amperes(current: float) -> str:
    """Return a current [A] in words, such as "0.42 A"; a dash where it is not known."""
    return f"{current:.2f} A" if isfinite(current) else "–"


def write_report(recording: Recording, path: str | Path) -> None:
    """Write the report as a page that needs no other file."""
    head = "<tr><th>servo</th><th>error, mean</th><th>worst</th><th>lag</th><th>hottest</th><th>current, most</th></tr>"
    rows = [
        f"<tr><td>{escape(name)}</td><td>{mean:.4f}</td><td>{worst:.4f}</td><td>{1e3 * lag:.0f} ms</td><td>{hot:.0f}"
        f" °C</td><td>{amperes(current)}</td></tr>"
        for name, mean, worst, lag, hot, current in tracking_table(recording)
    ]
    drawings = [_drawing(recording, k) for k in range(len(recording.names))]
    seconds = f"{len(recording.times)} looks over {recording.times[-1] - recording.times[0]:.1f} s, angles in rad"

    page = f"""<!doctype html><html lang="en"><meta charset="utf-8">
<title>How the servos followed</title><style>{STYLE}</style>
<h1>How the servos followed</h1><p>{seconds}.
Grey is the goal, blue where the servo was, red the error on a scale of its own.</p>
<table>{head}{"".join(rows)}</table>{"".join(drawings)}</html>
"""
    write_whole(path, page)


def _drawing(recording: Recording, k: int) -> str:
    seen = np.flatnonzero(np.isfinite(recording.position[:, k]))
    if not len(seen):
        return f"<h2>{escape(recording.names[k])}</h2><p>It was never looked at.</p>"
    seen = seen[:: max(1, len(seen) // POINTS)]
    first, last = float(recording.times[0]), float(recording.times[-1])
    across = WIDTH * (recording.times[seen] - first) / max(last - first, 1e-9)
    goal, position, error = (column[seen, k] for column in (recording.goal, recording.position, recording.error))
    low, high = float(min(goal.min(), position.min())), float(max(goal.max(), position.max()))
    reach = float(np.abs(error).max())
    lines = [
        _line("goal", across, (goal - low) / max(high - low, 1e-9)),
        _line("position", across, (position - low) / max(high - low, 1e-9)),
        _line("error", across, 0.5 + 0.5 * error / max(reach, 1e-9)),
    ]
    words = f'<text x="4" y="12">{high:.3f}</text><text x="4" y="{HEIGHT - 4}">{low:.3f}</text>'
    words += f'<text x="{WIDTH - 90}" y="12">error ±{reach:.4f}</text>'
    return f'<h2>{escape(recording.names[k])}</h2><svg width="{WIDTH}" height="{HEIGHT}">{"".join(lines)}{words}</svg>'


def _line(kind: str, across: np.ndarray, share: np.ndarray) -> str:
    up = HEIGHT - 4 - (HEIGHT - 8) * share
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across.tolist(), up.tolist(), strict=True))
    return f'<polyline class="{kind}" points="{points}"/>'
