"""A motion's report as one HTML page: how well it follows, how hard the motors work, how well it balances.

Plots by Plotly, which goes into the page, so that it can be sent and opened anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from math import degrees, isfinite
from pathlib import Path
from typing import Any

import numpy as np

from ..clips.clip import TargetClip
from ..errors import ClipError
from ..extras import extra
from ..feet.finding import find_contacts, ground_of
from ..feet.phases import runs
from ..feet.support import margins, zero_moment_margins
from ..files import write_whole
from ..kinematics.frames import robot_com
from ..mechanism.model import Mechanism
from ..motions import Motion, values_for
from ..motions.posing import posed
from ..objectives.settings import Settings
from .distances import distances
from .quality import measure_quality

MOST = 3000  # points of a line; beyond that the largest of neighbours stand for them
ROW = 230  # height of a plot [px]
COLORS = (
    "#4477aa",
    "#ee6677",
    "#228833",
    "#ccbb44",
    "#66ccee",
    "#aa3377",
    "#bbbbbb",
    "#222255",
    "#997700",
    "#225522",
    "#ee99aa",
    "#0077bb",
)
LIMIT = "#cc0000"

STYLE = """body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:1150px;padding:0 1em;
color:#222;background:#fff}
h1{font-size:1.5em;margin-bottom:.2em}h2{font-size:1.15em;margin:1.6em 0 .4em}
table{border-collapse:collapse;margin:.6em 0}
td,th{padding:.2em .9em;text-align:right;border-bottom:1px solid #ddd}td:first-child,th:first-child{text-align:left}
.bad{color:#b00000;font-weight:600}.note{color:#555}"""


@dataclass(frozen=True)
class Plot:
    """One of the page's plots over time.

    Attributes:
        title: with the unit.
        lines: name → (T,) values.
        limit: where a line is drawn across, or None.
        bars: name → (T,) whether a phase lasts, in place of lines.
    """

    title: str
    lines: dict[str, np.ndarray]
    limit: float | None = None
    bars: dict[str, np.ndarray] | None = None


def with_states(mechanism: Mechanism, motion: Motion) -> Motion:
    """Return the motion with its bodies' poses and its centre of mass, by forward kinematics unless they are known.

    Raise ClipError where an actuator has no column, or the robot floats and the motion has neither states nor a base.
    """
    if motion.position is None or motion.quaternion is None:
        if motion.base is None and not mechanism.is_grounded:
            raise ClipError(
                f"robot {mechanism.name!r} floats, so its motors do not say where it is; give its states too"
            )
        return posed(mechanism, motion)[0]
    values = values_for(mechanism, motion, "the motion")
    com = robot_com(mechanism, motion.position, motion.quaternion)
    bodies = tuple(body.name for body in mechanism.bodies)
    return replace(motion, actuators=mechanism.actuators, values=values, bodies=bodies, com=com)


def save_page(
    path: str | Path,
    motion: Motion,
    mechanism: Mechanism | None = None,
    clip: TargetClip | None = None,
    settings: Settings = Settings(),  # noqa: B008 - immutable
    frames: np.ndarray | None = None,
    more: Sequence[Plot] = (),
) -> None:
    """Write the page, whole or not at all.

    Errors and balance are shown of a motion with body poses (`with_states`), limits and feet where the robot is given.
    The clip, where given, and `more` plots are of the motion's times, else a ClipError is raised. `frames` (T,) of an
    animation are shown in place of seconds.
    """
    write_whole(path, page(motion, mechanism, clip, settings, frames, more))


def page(
    motion: Motion,
    mechanism: Mechanism | None,
    clip: TargetClip | None,
    settings: Settings,
    frames: np.ndarray | None = None,
    more: Sequence[Plot] = (),
) -> str:
    """Return the page as HTML of one file; the arguments are those of `save_page`."""
    if clip is not None and (clip.times.shape != motion.times.shape or np.abs(clip.times - motion.times).max() > 1e-6):
        raise ClipError(
            f"the clip has {len(clip.times)} samples to {clip.times[-1]:g} s, the motion {len(motion.times)} to"
            f" {motion.times[-1]:g} s"
        )
    name = mechanism.name if mechanism is not None else "Motion"
    x, unit = (motion.times, "time [s]") if frames is None else (frames, "frame")
    plots = [
        *_following(motion, mechanism, clip, settings),
        *_motors(motion, mechanism),
        *_balance(motion, mechanism, clip),
        *more,
    ]
    length = motion.times[-1] - motion.times[0]
    title = [f"<h1>{escape(name)}</h1>", f"<p class=note>{len(motion.times)} samples, {length:.2f} s</p>"]
    tables = [_quality_table(motion, mechanism, clip), _target_table(plots), _motor_table(motion, mechanism, x, unit)]
    parts = "\n".join([*title, *tables, *_notes(motion, mechanism, clip), _figure(plots, x, unit)])
    head = f'<meta charset="utf-8"><title>{escape(name)}: report</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{parts}</body></html>\n'


def _following(motion: Motion, mechanism: Mechanism | None, clip: TargetClip | None, settings: Settings) -> list[Plot]:
    """Distances and angles of the targets."""
    if mechanism is None or clip is None or motion.position is None or motion.quaternion is None or motion.com is None:
        return []
    apart, turned, off = distances(mechanism, clip, settings, motion.position, motion.quaternion, motion.com)
    lines = {n: 1e3 * apart[:, k] for k, n in enumerate(clip.tracks) if np.isfinite(apart[:, k]).any()}
    if np.isfinite(off).any():
        lines["centre of mass"] = 1e3 * off
    angles = {n: np.degrees(turned[:, k]) for k, n in enumerate(clip.tracks) if np.isfinite(turned[:, k]).any()}
    return [
        plot for plot in (Plot("distance from target [mm]", lines), Plot("angle from target [°]", angles)) if plot.lines
    ]


def _motors(motion: Motion, mechanism: Mechanism | None) -> list[Plot]:
    """Speeds and ranges, as shares of the limits where these are known."""
    speeds = _speeds(motion)
    if mechanism is None:
        return [Plot("speed [rad/s, m/s]", {name: speeds[:, k] for k, name in enumerate(motion.actuators)})]
    rows = _limits(mechanism)
    share = {
        n: 100 * speeds[:, motion.actuators.index(n)] / speed for n, (_, _, speed, _) in rows.items() if isfinite(speed)
    }
    used = {}
    for name, (lower, upper, _, _) in rows.items():
        if isfinite(lower) and isfinite(upper) and upper > lower:
            values = motion.values[:, motion.actuators.index(name)]
            used[name] = 200 * np.abs(values - 0.5 * (lower + upper)) / (upper - lower)
    plots = [
        Plot("motor speed [% of its limit]", share, 100.0),
        Plot("motor angle [% from the middle of its range to its end]", used, 100.0),
    ]
    return [plot for plot in plots if plot.lines]


def _balance(motion: Motion, mechanism: Mechanism | None, clip: TargetClip | None) -> list[Plot]:
    """Return the margins of centre of mass and zero-moment point, and the feet's contacts."""
    if mechanism is None or clip is None:
        return []
    contacts = {n: t.contact for n, t in clip.tracks.items() if t.contact is not None}
    feet = [
        f.name
        for f in mechanism.frames
        if f.is_foot and f.name in clip.tracks and clip.tracks[f.name].position is not None
    ]
    if feet and not contacts:
        contacts = find_contacts(mechanism, clip)
    if not contacts:
        return []
    plots = [Plot("feet on the ground", {}, bars=contacts)]
    if motion.com is not None and motion.position is not None:
        ground = ground_of(mechanism, clip)
        inside = {"centre of mass": 1e3 * margins(mechanism, motion, contacts, ground)}
        if mechanism.mass > 0:
            inside["zero-moment point"] = 1e3 * zero_moment_margins(mechanism, motion, contacts, ground)
        plots.insert(0, Plot("balance: inside the support [mm]", inside, 0.0))
    return plots


def _speeds(motion: Motion) -> np.ndarray:
    """(T, actuators) the step into each sample [rad/s or m/s]."""
    speeds = np.zeros_like(motion.values)
    speeds[1:] = np.abs(np.diff(motion.values, axis=0)) / np.diff(motion.times)[:, None]
    return speeds


def _limits(mechanism: Mechanism) -> dict[str, tuple[float, float, float, str]]:
    """Lower and upper limit, speed limit and unit by actuator."""
    limits = mechanism.actuator_limits.tolist()
    speeds = mechanism.actuator_velocity_limits.tolist()
    rows = zip(mechanism.actuators, limits, speeds, mechanism.actuator_units, strict=True)
    return {name: (*limit, speed, unit) for name, limit, speed, unit in rows}


def _quality_table(motion: Motion, mechanism: Mechanism | None, clip: TargetClip | None) -> str:
    """Return the figures of contacts, balance, limbs and jumps."""
    if mechanism is None or clip is None or motion.position is None or motion.quaternion is None:
        return ""
    rows = [(name, value, "") for name, value in measure_quality(mechanism, clip, motion).rows()]
    return _table(("quality", ""), rows)


def _target_table(plots: Sequence[Plot]) -> str:
    """Mean and worst of what is to be small, and the least margin."""
    rows = []
    for plot in plots:
        kind, _, unit = plot.title.rpartition(" [")
        for name, values in plot.lines.items() if plot.limit is None else ():
            good = values[np.isfinite(values)]
            rows.append((escape(name), kind, f"{good.mean():.2f} {unit[:-1]}", f"{good.max():.2f} {unit[:-1]}", ""))
        for name, values in plot.lines.items() if plot.title.startswith("balance") else ():
            good = values[np.isfinite(values)]
            if len(good):
                worst = f"{good.min():.1f} mm"
                rows.append((name, "margin", f"{good.mean():.1f} mm", worst, "bad" if good.min() < 0 else ""))
    return _table(("", "", "mean", "worst"), rows) if rows else ""


def _motor_table(motion: Motion, mechanism: Mechanism | None, x: np.ndarray, unit: str) -> str:
    """Peak speed and least room of each motor."""
    limits, speeds, rows = _limits(mechanism) if mechanism is not None else {}, _speeds(motion), []
    for k, name in enumerate(motion.actuators):
        lower, upper, fastest, kind = limits.get(name, (-np.inf, np.inf, np.inf, "rad"))
        peak, where = speeds[:, k].max(), x[int(speeds[:, k].argmax())]
        room = float(np.minimum(motion.values[:, k] - lower, upper - motion.values[:, k]).min())
        shown = "" if not isfinite(room) else f"{degrees(room):.1f}°" if kind == "rad" else f"{1e3 * room:.1f} mm"
        share = f"{peak / fastest:.0%}" if isfinite(fastest) else ""
        over = peak > fastest * (1 + 1e-6) or room < -1e-6
        of = f" of {fastest:.2f}" if isfinite(fastest) else ""
        rows.append(
            (
                escape(name),
                f"{peak:.2f}{of} {kind}/s",
                share,
                f"{where:.6g}" if unit == "frame" else f"{where:.2f}",
                shown,
                "bad" if over else "",
            )
        )
    return _table(("motor", "peak speed", "of its limit", f"at {unit}", "room to its limits"), rows)


def _table(heads: Sequence[str], rows: Sequence[tuple[str, ...]]) -> str:
    """Return each row ends with its CSS class."""
    body = "".join(f'<tr class="{kind}">{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>' for *cells, kind in rows)
    return f"<table><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>{body}</table>"


def _notes(motion: Motion, mechanism: Mechanism | None, clip: TargetClip | None) -> list[str]:
    """Return what could not be shown, and what it needs; what keeping speeds has cost, if that is known."""
    wanted = [
        "the robot: limits and balance" if mechanism is None else "",
        "the clip that was followed: distances and contacts" if clip is None else "",
        "the bodies' states: distances and balance" if motion.position is None and mechanism is not None else "",
    ]
    missing, cost = "; ".join(filter(None, wanted)), motion.report.speed_cost if motion.report else None
    notes = [f"Not known here: {missing}."] if missing else []
    if cost is not None:
        notes.append(f"{escape(str(cost).capitalize())}.")
    return [f"<p class=note>{note}</p>" for note in notes]


def _traces(plot: Plot, x: np.ndarray, row: int, colors: dict[str, str], go: Any) -> Iterator[Any]:
    """Yield a plot's bars or lines; names that are new get a color, and an entry in the plot's legend."""
    for name in plot.bars if plot.bars is not None else plot.lines:
        is_new = name not in colors
        color = colors.setdefault(name, COLORS[len(colors) % len(COLORS)])
        style = {
            "name": escape(name),
            "legendgroup": name,
            "legend": f"legend{row if row > 1 else ''}",
            "marker_color": color,
            "showlegend": is_new,
        }
        if plot.bars is not None:
            spans = [(x[first], x[stop - 1]) for first, stop in runs(plot.bars[name])]
            start, length = [a for a, _ in spans], [b - a for a, b in spans]
            yield go.Bar(base=start, x=length, y=[escape(name)] * len(spans), orientation="h", **style)
        else:
            at, values = _thinned(x, plot.lines[name], low=plot.title.startswith("balance"))
            yield go.Scatter(x=at, y=values, mode="lines", line_width=1.5, **style)


def _figure(plots: Sequence[Plot], x: np.ndarray, unit: str) -> str:
    """Return the plots below each other; they zoom together."""
    with extra("report"):
        import plotly.graph_objects as go  # a second to import, which only a report needs
        from plotly.subplots import make_subplots

    figure = make_subplots(
        len(plots),
        1,
        shared_xaxes=True,
        vertical_spacing=0.28 / max(len(plots), 2),
        subplot_titles=[p.title for p in plots],
    )
    colors: dict[str, str] = {}
    for row, plot in enumerate(plots, start=1):
        for trace in _traces(plot, x, row, colors, go):
            figure.add_trace(trace, row, 1)
        if plot.limit is not None:
            figure.add_hline(plot.limit, line_color=LIMIT, line_width=1.5, row=row, col=1)
    figure.update_xaxes(title_text=unit, row=len(plots), col=1)
    figure.update_xaxes(showticklabels=True)
    figure.update_layout(
        height=ROW * len(plots) + 80,
        template="plotly_white",
        hovermode="x unified",
        barmode="overlay",
        margin={"l": 60, "r": 10, "t": 40},
    )
    for row in range(1, len(plots) + 1):
        top = figure.layout[f"yaxis{row if row > 1 else ''}"].domain[1]
        figure.update_layout(
            {f"legend{row if row > 1 else ''}": {"y": top, "yanchor": "top", "x": 1.01, "font_size": 11}}
        )
    return str(
        figure.to_html(full_html=False, include_plotlyjs=True, config={"displaylogo": False, "responsive": True})
    )


def _thinned(x: np.ndarray, values: np.ndarray, low: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """At most `MOST` of the points, of each run of neighbours the largest (or lowest), so that no peak is lost."""
    if len(x) <= MOST:
        return x, values.astype(np.float32)
    bounds = np.linspace(0, len(x), MOST + 1).astype(int)
    worth = np.where(np.isfinite(values), -values if low else values, -np.inf)
    best = np.array([first + int(np.argmax(worth[first:stop])) for first, stop in pairwise(bounds)])
    return x[best], values[best].astype(np.float32)
