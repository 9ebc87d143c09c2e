"""Graph of the motors at the foot of the 3D view over the bake: rates or torques, as shares of what each motor can."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from bpy.types import Area, Object, Region, Scene

from ...robik.report.judging import rates
from ..bake.kept_clip import kept_clip
from ..bake.request import read_bake_settings
from ..motion import is_at_hand, motion_frames, read_motion
from ..robot.reading import read_moving_parts
from .forces import bake_forces
from .shapes import BAD, TIGHT, Color, Shapes

BACK: Color = (0.07, 0.07, 0.08, 0.86)
GRID: Color = (1.0, 1.0, 1.0, 0.16)
OTHERS: Color = (0.6, 0.72, 0.9, 0.45)
HAND: Color = (0.45, 0.7, 1.0, 0.9)
WORDS: Color = (1.0, 1.0, 1.0, 0.9)
HEIGHT, EDGE, LEAST = (
    150,
    10,
    240,
)  # of the graph, its distance from the view's edges, its least width [px at a scale of 1]
TITLE, FOOT, LEFT, RIGHT = 22, 18, 44, 14  # what it leaves free inside
RATES = ("SPEED", "ACCELERATION", "JERK")  # items of `graph_of`, by order
HIGHEST = 2.0  # share of the limit up to which it goes


@dataclass(frozen=True)
class MotorCurves:
    """Speeds, accelerations, jerks or torques of a robot's motors over its bake.

    Attributes:
        title: what is shown.
        frames: (T,) of the scene.
        names: of the motors that have a limit.
        values: (T, motors) of no sign; speeds are those of the step into the frame.
        limits: (motors,) likewise.
        units: of both.
    """

    title: str
    frames: np.ndarray
    names: tuple[str, ...]
    values: np.ndarray
    limits: np.ndarray
    units: tuple[str, ...]

    @property
    def shares(self) -> np.ndarray:
        """(T, motors) of their limits."""
        return self.values / self.limits

    def index(self, name: str) -> int:
        """Of a motor; the one that works hardest where there is none of that name."""
        return self.names.index(name) if name in self.names else int(np.argmax(self.shares.max(axis=0)))

    def describe(self, k: int) -> str:
        """Return where a motor needs most, in words."""
        worst = int(np.argmax(self.values[:, k]))
        unit, value, limit = self.units[k], self.values[worst, k], self.limits[k]
        return f"{self.names[k]} {value:.2f} of {limit:.1f} {unit} at frame {self.frames[worst]:g}"


def motor_curves(root: Object, scene: Scene, what: str) -> MotorCurves | None:
    """Return the motors' curves as they are now, so that edits show; None without keys or known limits.

    `what` is one of the items of `RobikOverlays.graph_of`.
    """
    return _torques(root, scene) if what == "TORQUE" else _rates(root, scene, RATES.index(what))


def _rates(root: Object, scene: Scene, order: int) -> MotorCurves | None:
    """Return speeds, accelerations or jerks, by their order from 0 on."""
    mechanism = read_moving_parts(root)
    if not is_at_hand(root, mechanism, scene):
        return None
    settings = replace(read_bake_settings(root, scene), velocity_share=1.0)
    limits = settings.limits(mechanism).over_time[order]
    is_kept = order > 0 and settings.look_ahead
    known = np.flatnonzero(is_kept | np.isfinite(mechanism.actuator_velocity_limits))
    kept = kept_clip(root)
    frames = kept.frames if kept is not None else motion_frames(root, mechanism, scene)
    if not len(known) or len(frames) < order + 2:
        return None
    motion = read_motion(root, mechanism, frames, scene)
    return MotorCurves(
        title=f"Motor {('speeds', 'accelerations', 'jerks')[order]}",
        frames=frames,
        names=tuple(mechanism.actuators[k] for k in known),
        values=np.abs(rates(mechanism, motion.values, motion.times)[order][:, known]),
        limits=limits[known],
        units=tuple(f"{mechanism.actuator_units[k]}/s{('', '²', '³')[order]}" for k in known),
    )


def _torques(root: Object, scene: Scene) -> MotorCurves | None:
    """Return the torques; None without forces, or where no motor's torque is known."""
    forces = bake_forces(root, scene)
    known = np.flatnonzero(np.isfinite(forces.efforts)) if forces is not None else ()
    if forces is None or not len(known):
        return None
    return MotorCurves(
        title="Motor torques",
        frames=forces.frames,
        names=tuple(forces.dynamics.actuators[k] for k in known),
        values=np.abs(forces.dynamics.torque[:, known]),
        limits=forces.efforts[known],
        units=tuple(forces.units[k] for k in known),
    )


@dataclass(frozen=True)
class Place:
    """Place of the graph in a view's region: the plot itself, without title and numbers [px]."""

    left: float
    right: float
    bottom: float
    top: float
    scale: float

    def x(self, frames: np.ndarray | float, curves: MotorCurves) -> np.ndarray | float:
        """Of frames."""
        first, last = curves.frames[0], curves.frames[-1]
        return self.left + (self.right - self.left) * (frames - first) / (last - first)


def place_in(area: Area, region: Region, scale: float) -> Place | None:
    """At the foot of a 3D view, between its toolbar and its sidebar; None where there is no room."""
    left, right, bottom = 0, region.width, 0
    for other in area.regions:
        if other == region or other.width <= 1 or other.height <= 1:
            continue
        if other.alignment == "LEFT":
            left = max(left, other.x + other.width - region.x)
        elif other.alignment == "RIGHT":
            right = min(right, other.x - region.x)
        elif other.alignment == "BOTTOM":
            bottom = max(bottom, other.y + other.height - region.y)
    if right - left < LEAST * scale or region.height < 2 * HEIGHT * scale:
        return None
    inner = (EDGE + LEFT) * scale, (EDGE + RIGHT) * scale, (EDGE + FOOT) * scale, (EDGE + HEIGHT - TITLE) * scale
    return Place(left + inner[0], right - inner[1], bottom + inner[2], bottom + inner[3], scale)


def graph_shapes(curves: MotorCurves, place: Place, shown: str) -> Shapes:
    """Return all of the graph but the playhead, in pixels."""
    shapes, k, shares = Shapes(), curves.index(shown), curves.shares
    top = max(1.2, min(float(shares.max()) * 1.05, HIGHEST))
    unit = (place.top - place.bottom) / top
    _frame(shapes, place, unit, top)
    columns = _columns(curves, place)
    for other in range(len(curves.names)):
        if other != k:
            _curve(shapes, columns(other), place, unit, OTHERS, top)
    _curve(shapes, columns(k), place, unit, TIGHT, top)
    s = place.scale
    shapes.labels.append((np.array([place.left - (LEFT - 8) * s, place.top + 7 * s, 12]), curves.title, WORDS))
    shapes.labels.append((np.array([place.left + 62 * s, place.top + 7 * s, 12]), curves.describe(k), TIGHT))
    for frame in (curves.frames[0], curves.frames[-1]):
        text = f"{frame:g}"
        x = float(place.x(frame, curves)) - (7 * s * len(text) if frame == curves.frames[-1] else 0.0)
        shapes.labels.append((np.array([x, place.bottom - 14 * s, 10]), text, WORDS))
    return shapes


def playhead(curves: MotorCurves, place: Place, frame: float) -> Shapes:
    """Return the line at the present frame, with its number; nothing outside the bake."""
    shapes = Shapes()
    if curves.frames[0] <= frame <= curves.frames[-1]:
        x = float(place.x(frame, curves))
        shapes.segments(np.array([[x, place.bottom, 0.0], [x, place.top, 0.0]]), HAND)
        shapes.labels.append((np.array([x + 3 * place.scale, place.top - 11 * place.scale, 10]), f"{frame:g}", HAND))
    return shapes


def _frame(shapes: Shapes, place: Place, unit: float, top: float) -> None:
    """Background, grid, and the limit as the one line that is red."""
    s = place.scale
    box = [(-LEFT, -FOOT), (RIGHT, -FOOT), (RIGHT, TITLE), (-LEFT, TITLE)]
    corners = [(place.left if dx < 0 else place.right, place.bottom if dy < 0 else place.top) for dx, dy in box]
    shapes.fan(np.array([(x + dx * s, y + dy * s, 0.0) for (x, y), (dx, dy) in zip(corners, box, strict=True)]), BACK)
    for share in (0.0, 0.5, 1.0, 1.5):
        if share <= top:
            y = place.bottom + share * unit
            shapes.segments(np.array([[place.left, y, 0.0], [place.right, y, 0.0]]), BAD if share == 1.0 else GRID)
            color = BAD if share == 1.0 else WORDS
            shapes.labels.append(
                (np.array([place.left - (LEFT - 8) * s, y - 4 * s, 10]), f"{100 * share:.0f} %", color)
            )


def _columns(curves: MotorCurves, place: Place) -> Callable[[int], tuple[np.ndarray, np.ndarray]]:
    """Return the largest share of each motor within each column of pixels: a peak never hides between two of them."""
    columns = max(int(place.right - place.left), 2)
    x = np.asarray(place.x(curves.frames, curves))
    if len(x) <= columns:
        return lambda k: (x, curves.shares[:, k])
    starts = np.flatnonzero(np.diff(np.floor(x), prepend=-np.inf) > 0)
    return lambda k: (x[starts], np.maximum.reduceat(curves.shares[:, k], starts))


def _curve(
    shapes: Shapes, points: tuple[np.ndarray, np.ndarray], place: Place, unit: float, color: Color, top: float
) -> None:
    """Draw a motor's curve; beyond the limit it is filled red down to it."""
    x, shares = points
    y = place.bottom + unit * np.minimum(shares, top)
    zero = np.zeros(len(x))
    shapes.path(np.column_stack([x, y, zero]), color)
    if shares.max() > 1.0 + 1e-6:
        limit = place.bottom + unit
        shapes.band(
            np.column_stack([x, np.full(len(x), limit), zero]),
            np.column_stack([x, np.maximum(y, limit), zero]),
            (*BAD[:3], 0.85),
        )
