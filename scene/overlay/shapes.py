"""Overlays as geometry: coloured lines and triangles, in the robot's coordinates.

Only numbers; nothing is drawn here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import cos, isfinite, pi, sin, tau

import numpy as np

from ...robik.feet.support import signed_distance
from ...robik.kinematics.joint_places import JointPlace
from ...robik.mechanism.constraints import rotation_vector_matrix
from ...robik.mechanism.joints import MOTIONS, SLIDES, TURNS
from ...robik.motions.report import NEARLY
from ...robik.report.shortfall import POSITION_MET, millimetres
from .state import MotorLoad, RobotState

Color = tuple[float, float, float, float]

# Told apart also by those who do not see red and green alike: by brightness, and each mark also by its shape.
GOOD: Color = (0.25, 0.85, 0.45, 1.0)
TIGHT: Color = (1.0, 0.72, 0.15, 1.0)
BAD: Color = (1.0, 0.2, 0.2, 1.0)
WANTED: Color = (0.35, 0.75, 1.0, 1.0)
PASSIVE: Color = (0.75, 0.78, 0.85, 0.55)
DRIVEN: Color = (1.0, 0.85, 0.5, 0.9)
TOLD: Color = (1.0, 0.55, 0.5, 1.0)  # words about what is bad: light enough to be read before anything
FORCE: Color = (0.75, 0.55, 1.0, 1.0)
EMPTY: Color = (0.05, 0.05, 0.06, 0.55)

NEAR_LIMIT = 0.9  # of a motor's limit: from here it is tight
FORCE_LENGTH = 0.4  # of the robot's size: the arrow of its weight
STEPS = 48  # of a circle


@dataclass
class Shapes:
    """Shapes to draw of a robot.

    Points (N, 3) [m] in pairs for lines and threes for triangles, a colour each, and words at points.
    """

    lines: list[np.ndarray] = field(default_factory=list)
    line_colors: list[np.ndarray] = field(default_factory=list)
    triangles: list[np.ndarray] = field(default_factory=list)
    triangle_colors: list[np.ndarray] = field(default_factory=list)
    labels: list[tuple[np.ndarray, str, Color]] = field(default_factory=list)

    def path(self, points: np.ndarray, color: Color, closed: bool = False) -> None:
        """Add a line through points (N, 3)."""
        ring = np.vstack([points, points[:1]]) if closed else points
        self.segments(np.stack([ring[:-1], ring[1:]], axis=1).reshape(-1, 3), color)

    def segments(self, points: np.ndarray, color: Color) -> None:
        """Lines between pairs of points (2 N, 3)."""
        self.lines.append(np.asarray(points, dtype=np.float32))
        self.line_colors.append(np.tile(np.array(color, dtype=np.float32), (len(points), 1)))

    def fan(self, points: np.ndarray, color: Color) -> None:
        """Add a filled convex polygon of corners (N, 3)."""
        if len(points) > 2:
            corners = np.stack([np.broadcast_to(points[:1], (len(points) - 2, 3)), points[1:-1], points[2:]], axis=1)
            self._fill(corners.reshape(-1, 3), color)

    def band(self, inner: np.ndarray, outer: np.ndarray, color: Color) -> None:
        """Fill the area between two lines of points (N, 3)."""
        a, b, c, d = inner[:-1], inner[1:], outer[:-1], outer[1:]
        self._fill(np.stack([a, b, c, c, b, d], axis=1).reshape(-1, 3), color)

    def _fill(self, points: np.ndarray, color: Color) -> None:
        self.triangles.append(np.asarray(points, dtype=np.float32))
        self.triangle_colors.append(np.tile(np.array(color, dtype=np.float32), (len(points), 1)))


def shapes_of(state: RobotState, com: bool, com_target: bool, support: bool) -> Shapes:
    """Return all marks of a robot; misses, joints and motors as far as its state has them."""
    shapes = Shapes()
    if support:
        _support(shapes, state)
    if com_target and state.com_target is not None:
        _com_target(shapes, state)
    if com and state.com is not None:
        _com(shapes, state)
    if state.ground_force is not None and state.zero_moment is not None:
        _ground_force(shapes, state, state.ground_force, state.zero_moment)
    for place in state.joints:
        _joint(shapes, place, 0.045 * state.size)
    for k, motor in enumerate(state.motors):
        _motor(shapes, motor, 0.05 * state.size, _ring(state, k))
    for miss in state.misses:
        _miss(shapes, miss.here, miss.there, miss.distance, state.size)
    return shapes


def load_color(load: float) -> Color:
    """Green at ease, amber near the limit, red beyond it."""
    return GOOD if load < NEAR_LIMIT else TIGHT if load <= 1.0 + 1e-6 else BAD


def circle(
    center: np.ndarray, u: np.ndarray, v: np.ndarray, radius: float, start: float = 0.0, stop: float = tau
) -> np.ndarray:
    """Points (N, 3) of a circle in the plane of u and v, or of an arc of it [rad]."""
    angles = np.linspace(start, stop, max(int(STEPS * abs(stop - start) / tau) + 1, 2))[:, None]
    return center + radius * (np.cos(angles) * u + np.sin(angles) * v)


def _ground_force(shapes: Shapes, state: RobotState, force: np.ndarray, at: np.ndarray) -> None:
    """Draw an arrow from the zero-moment point along the ground's force, and that point as a disc.

    Red where the point is outside the support.
    """
    outside = state.support is not None and float(signed_distance(at[None], state.support)[0]) < 0.0
    color, r, axes = BAD if outside else FORCE, 0.02 * state.size, np.eye(3)
    foot = np.array([*at, state.ground])
    tip = foot + FORCE_LENGTH * state.size * force
    shapes.fan(circle(foot, axes[0], axes[1], r), color)
    shapes.segments(np.array([foot, tip]), color)
    along = (tip - foot) / max(float(np.linalg.norm(tip - foot)), 1e-9)
    for side in (axes[0], axes[1]):
        for sign in (-1.0, 1.0):
            shapes.segments(np.array([tip, tip - 2.0 * r * along + sign * r * side]), color)
    if outside:
        shapes.labels.append((tip, "zero-moment point outside the support: tips over", color))


def _com(shapes: Shapes, state: RobotState) -> None:
    """Three rings about the centre of mass, a line down, and a cross with a ring where it meets the ground."""
    inside = state.margin is None or state.margin >= 0
    color, axes, r = GOOD if inside else BAD, np.eye(3), 0.035 * state.size
    for k in range(3):
        shapes.path(circle(state.com, axes[k], axes[(k + 1) % 3], r), color, closed=True)
    foot = np.array([*state.com[:2], state.ground])
    shapes.segments(np.array([state.com, foot]), (*color[:3], 0.6))
    shapes.fan(circle(foot, axes[0], axes[1], 0.5 * r), color)
    cross = [foot + s * r * axis for axis in axes[:2] for s in (-1.0, 1.0)]
    shapes.segments(np.array(cross), color)
    if not inside:
        shapes.labels.append((foot, f"{1e3 * -state.margin:.0f} mm outside", TOLD))


def _com_target(shapes: Shapes, state: RobotState) -> None:
    """Draw a target on the ground: two rings and four ticks."""
    center, r = np.array([*state.com_target, state.ground]), 0.025 * state.size
    x, y = np.eye(3)[:2]
    for radius in (0.8 * r, 1.5 * r):
        shapes.path(circle(center, x, y, radius), WANTED, closed=True)
    ticks = [center + s * radius * axis for axis in (x, y) for s in (-1.0, 1.0) for radius in (1.2 * r, 1.9 * r)]
    shapes.segments(np.array(ticks), WANTED)


def _support(shapes: Shapes, state: RobotState) -> None:
    """Draw the area on the ground, filled and outlined."""
    if state.support is None:
        return
    corners = np.column_stack([state.support, np.full(len(state.support), state.ground + 2e-3 * state.size)])
    color = GOOD if state.margin is None or state.margin >= 0 else BAD
    shapes.fan(corners, (*color[:3], 0.25))
    shapes.path(corners, (*color[:3], 0.9), closed=len(corners) > 2)


def _miss(shapes: Shapes, here: np.ndarray, there: np.ndarray, distance: float, size: float) -> None:
    """Draw a small cross at the target, and a line to the frame; `size` of the robot."""
    met, arm = distance <= POSITION_MET * size, 0.02 * size
    color = GOOD if met else TIGHT if distance <= NEARLY * POSITION_MET * size else BAD
    shapes.segments(np.array([there + s * arm * axis for axis in np.eye(3) for s in (-1.0, 1.0)]), color)
    if not met:
        shapes.segments(np.array([here, there]), color)
        for axis in range(3):  # an eight-sided knot at the robot's end
            shapes.path(circle(here, np.eye(3)[axis], np.eye(3)[(axis + 1) % 3], 0.3 * arm), color, closed=True)
        shapes.labels.append((there, millimetres(distance), color if color != BAD else TOLD))


def _joint(shapes: Shapes, place: JointPlace, size: float) -> None:
    """Its axes with their limits; a ball as three rings, slides as rods with ends, turns as arcs with a hand."""
    joint, color = place.joint, DRIVEN if place.joint.actuated else PASSIVE
    if joint.type in ("fixed", "free"):
        return
    values = dict(zip(joint.motions, place.values, strict=True))
    limits = dict(zip(joint.motions, joint.limits, strict=True))
    center = place.origin.copy()
    for k, name in enumerate(SLIDES):
        if name in values:
            _slide(shapes, place.origin, place.axes[:, k], float(values[name]), limits[name], color, size)
            center += place.axes[:, k] * values[name]
    if joint.is_ball:
        for k in range(3):
            shapes.path(circle(center, place.axes[:, k], place.axes[:, (k + 1) % 3], size), color, closed=True)
        return
    axes = place.axes
    for k, name in enumerate(TURNS):
        if name in values:
            _turn(shapes, center, axes, k, float(values[name]), limits[name], color, size)
            axes = axes @ rotation_vector_matrix(values[name] * np.eye(3)[k])


def _slide(
    shapes: Shapes,
    origin: np.ndarray,
    axis: np.ndarray,
    value: float,
    limits: tuple[float, float],
    color: Color,
    size: float,
) -> None:
    lower, upper = (
        limit if isfinite(limit) else value + side * 3 * size for limit, side in zip(limits, (-1, 1), strict=True)
    )
    side = _perpendicular(axis)
    shapes.segments(np.array([origin + lower * axis, origin + upper * axis]), color)
    for at, limit in zip((lower, upper), limits, strict=True):
        if isfinite(limit):
            end = origin + at * axis
            shapes.segments(np.array([end - 0.4 * size * side, end + 0.4 * size * side]), color)
    here, other = origin + value * axis, np.cross(axis, side)
    mark = load_color(_closeness(value, limits))
    shapes.path(
        here + 0.35 * size * np.array([side, other, -side, -other]), mark if mark != GOOD else color, closed=True
    )


def _turn(
    shapes: Shapes,
    center: np.ndarray,
    axes: np.ndarray,
    k: int,
    value: float,
    limits: tuple[float, float],
    color: Color,
    size: float,
) -> None:
    axis, u, v = axes[:, k], axes[:, (k + 1) % 3], axes[:, (k + 2) % 3]
    shapes.segments(np.array([center - 0.6 * size * axis, center + 0.6 * size * axis]), color)
    lower, upper = limits
    bounded = isfinite(lower) and isfinite(upper) and upper - lower < tau
    start, stop = (lower, upper) if bounded else (value - pi, value + pi)
    arc = circle(center, u, v, size, start, stop)
    shapes.path(arc, color)
    if bounded:
        shapes.segments(
            np.array([arc[0], center + 0.75 * (arc[0] - center), arc[-1], center + 0.75 * (arc[-1] - center)]), color
        )
        shapes.fan(np.vstack([center[None], arc]), (*color[:3], 0.1)) if upper - lower < pi else None
    hand = cos(value) * u + sin(value) * v
    mark = load_color(_closeness(value, limits))
    shapes.segments(np.array([center, center + 1.15 * size * hand]), mark if mark != GOOD else (*color[:3], 1.0))


def _closeness(value: float, limits: tuple[float, float]) -> float:
    """1 at a limit, 0 in the middle of the range or without limits."""
    lower, upper = limits
    if not (isfinite(lower) and isfinite(upper)) or upper <= lower:
        return 0.0
    return abs(value - 0.5 * (lower + upper)) / (0.5 * (upper - lower))


def _axis(motor: MotorLoad) -> tuple[np.ndarray, np.ndarray]:
    """Return where a motor's ring has its centre, and its axis."""
    place = motor.place
    values = dict(zip(place.joint.motions, place.values, strict=True))
    center = place.origin + sum(
        (place.axes[:, SLIDES.index(n)] * v for n, v in values.items() if n in SLIDES), np.zeros(3)
    )
    return center, place.axes[:, MOTIONS.index(motor.motion) % 3]


def _ring(state: RobotState, k: int) -> int:
    """Return the number of motors before this one with their rings in the same place.

    Theirs are smaller; this one lies around them.
    """
    center, axis = _axis(state.motors[k])
    others = [_axis(motor) for motor in state.motors[:k]]
    return sum(np.linalg.norm(c - center) < 0.02 * state.size and abs(a @ axis) > 0.9 for c, a in others)


def _motor(shapes: Shapes, motor: MotorLoad, size: float, ring: int) -> None:
    """Draw a ring about the motor's axis that fills with its load."""
    color, (center, axis) = load_color(motor.load), _axis(motor)
    up = np.array([0.0, 0.0, 1.0]) - axis * axis[2]
    u = up / np.linalg.norm(up) if np.linalg.norm(up) > 0.2 else _perpendicular(axis)
    v = np.cross(u, axis)
    inner, outer = (0.62 + 0.42 * ring) * size, (1.0 + 0.42 * ring) * size
    for share, fill in ((1.0, EMPTY), (min(motor.load, 1.0), (*color[:3], 0.9))):
        shapes.band(circle(center, u, v, inner, 0.0, share * tau), circle(center, u, v, outer, 0.0, share * tau), fill)
    for radius in (inner, outer):
        shapes.path(circle(center, u, v, radius), (*color[:3], 0.8), closed=True)
    if motor.load > 1.0 + 1e-6:
        shapes.labels.append((center + 1.1 * outer * u, motor.text, TOLD))


def _perpendicular(axis: np.ndarray) -> np.ndarray:
    other = np.eye(3)[int(np.argmin(np.abs(axis)))]
    side = np.cross(axis, other)
    return side / np.linalg.norm(side)
