"""Hold that motors have of a robot along a motion, and their forward kinematics, held against a bake.

Hold is measured in `kinematics/hold.py`. Forward kinematics takes each frame from the one before. Where hold is lost,
it may come to another assembly than the bake's, and so may the robot.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..kinematics.blocks import blocks
from ..kinematics.forward import ForwardKinematics
from ..kinematics.frames import read_states
from ..kinematics.hold import Held, HoldMeter
from ..kinematics.kernels import difference, new_placement
from ..mechanism.model import Mechanism
from ..mechanism.topology import Topology
from ..motions.hold import LEAST, Hold
from .shortfall import position_met

SAME = 1e-6  # of the robot's extent, and rad: bodies that are nearer are at the same place
JUMP = 0.1  # rad, and of the robot's size: coordinates that go further than motors that keep hold bring them


def hold_of_bake(
    mechanism: Mechanism,
    topology: Topology,
    q: np.ndarray,
    values: np.ndarray,
    base: tuple[np.ndarray, np.ndarray] | None,
) -> Hold | None:
    """Return the hold along a bake, and where its motors alone bring the bodies elsewhere.

    Args:
        mechanism: The robot.
        topology: The tree of the coordinates.
        q: Coordinates (T, nq) [rad or m, wxyz for balls].
        values: Actuator values (T, A) [rad or m].
        base: Positions (T, 3) [m] and quaternions (T, 4) wxyz of a floating base; None for a robot on the ground.

    Returns:
        Hold; None for a robot without loops that motors move.
    """
    if not topology.cuts or not (meter := HoldMeter(topology)).loops:
        return None
    fk = ForwardKinematics(mechanism, topology)
    off = _off(fk, meter, q, values, base)
    near = SAME + fk.flat.accepted[0] / fk.flat.size / LEAST  # rounded files close their loops no further
    apart = (off.away > near * mechanism.extent) | (off.turned > near)
    hold = _hold(meter, q, meter.along(q), apart.any(axis=1))
    if hold.is_kept:
        return hold
    names = np.array([mechanism.bodies[i].name for i in fk.topology.order])
    return replace(
        hold,
        bodies=hold.bodies or tuple(names[apart.any(axis=0)].tolist()),
        distance=float(off.away.max(initial=0.0)),
        angle=float(off.turned.max(initial=0.0)),
    )


def hold_along(mechanism: Mechanism, values: np.ndarray) -> Hold | None:
    """Return the hold along actuator values, from the rest pose on, and where loops do not close or jump.

    Args:
        mechanism: The robot.
        values: Actuator values (T, A) [rad or m].

    Returns:
        Hold; None for a robot without loops that motors move.
    """
    fk = ForwardKinematics(mechanism)
    if not fk.topology.cuts or not (meter := HoldMeter(fk.topology)).loops:
        return None
    q, residual = fk.coordinates_along(values)
    apart, held = residual > position_met(mechanism), meter.along(q)
    held.hold[apart], held.crossed[apart] = np.inf, False  # no poses of the robot
    return _hold(meter, q, held, apart | _jumps(meter, q))


def _hold(meter: HoldMeter, q: np.ndarray, held: Held, apart: np.ndarray) -> Hold:
    """Return what is told of the hold of the groups of loops, and of samples (T,) that are apart."""
    loops = meter.loops
    hold = _through_zero(held)[:, loops]
    usual = np.maximum(meter.usual[loops], np.where(np.isfinite(hold), hold, 0.0).max(axis=0, initial=0.0))
    bound = np.minimum(LEAST, 0.5 * usual)  # half of what a gear leaves that never has more
    for k, g in np.argwhere(hold < bound).tolist():
        hold[k, g] /= meter.share(q[k], loops[g])
    below = (hold < bound).any(axis=1)
    frame, worst = np.unravel_index(int((hold / bound).argmin()), hold.shape)
    lost = meter.lost(q[frame], loops[worst]) if (below | apart).any() else None
    return Hold(
        values=hold.min(axis=1),
        frame=int(frame),
        bound=float(bound[worst]),
        below=tuple(np.flatnonzero(below).tolist()),
        apart=tuple(np.flatnonzero(apart).tolist()),
        motors=lost.motors if lost else (),
        bodies=lost.bodies if lost and below.any() else (),
    )


def _through_zero(held: Held) -> np.ndarray:
    """Return hold (T, groups), 0 at the nearer of two samples between which it goes through 0."""
    hold = held.hold.copy()
    k, g = np.nonzero(held.crossed)
    hold[np.where(held.hold[k - 1, g] < held.hold[k, g], k - 1, k), g] = 0.0
    return hold


class _Off(NamedTuple):
    """Distances of the bodies between forward kinematics and a bake; 0 of bodies that no motor determines."""

    away: np.ndarray  # (T, n) [m]
    turned: np.ndarray  # (T, n) [rad]


def _off(
    fk: ForwardKinematics,
    meter: HoldMeter,
    q: np.ndarray,
    values: np.ndarray,
    base: tuple[np.ndarray, np.ndarray] | None,
) -> _Off:
    """Return how far forward kinematics, from the rest pose on, brings the bodies from where the coordinates are."""
    flat, bodies = fk.flat, fk.topology.mechanism.bodies
    idle = np.array([bodies[i].name in meter.idle_bodies for i in fk.topology.order])
    now, upright = new_placement(flat, fk.topology.rest), np.tile([1.0, 0.0, 0.0, 0.0], (flat.bodies, 1))
    away, turned = np.zeros((len(q), flat.bodies)), np.zeros((len(q), flat.bodies))
    for part in blocks(len(q)):
        placed = None if base is None else (base[0][part], base[1][part])
        position, quaternion, _ = fk.along(values[part], placed)
        there, way = np.zeros_like(position), np.zeros_like(quaternion)
        read_states(flat, now, np.ascontiguousarray(q[part]), upright, there, way)
        away[part] = np.linalg.norm(position - there, axis=2)
        chord = np.minimum(np.linalg.norm(quaternion - way, axis=2), np.linalg.norm(quaternion + way, axis=2))
        turned[part] = 4.0 * np.arcsin(np.minimum(0.5 * chord, 1.0))
    away[:, idle] = turned[:, idle] = 0.0
    return _Off(away, turned)


def _jumps(meter: HoldMeter, q: np.ndarray) -> np.ndarray:
    """Return the samples (T,) into which coordinates go further than hold lets motors bring them."""
    coordinates, step = meter.coordinates, np.zeros(len(meter.flat.before))
    jumps = np.zeros(len(q), bool)
    for k in range(1, len(q)):
        difference(meter.flat, q[k], q[k - 1], step)
        scaled = step / coordinates.unit
        far = np.linalg.norm(scaled[coordinates.kept]) - np.linalg.norm(scaled[coordinates.driven]) / LEAST
        jumps[k] = far > JUMP
    return jumps
