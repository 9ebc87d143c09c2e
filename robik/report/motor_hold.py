"""Hold that motors have of a robot along a motion, and their forward kinematics, held against a bake.

Hold is measured in `kinematics/singularity.py`. Forward kinematics takes each frame from the one before. Where hold is
lost, it may come to another assembly than the bake's, and so may the robot.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..kinematics.blocks import blocks
from ..kinematics.forward import ForwardKinematics
from ..kinematics.frames import read_states
from ..kinematics.kernels import difference, new_placement
from ..kinematics.singularity import Held, Meter, meter_of
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
    """Return the hold along a bake, and where its motors alone bring the bodies elsewhere."""
    if not topology.cuts or not (meter := meter_of(topology)).loops:
        return None
    fk = ForwardKinematics(mechanism, topology)
    off = _off(fk, meter, q, values, base)
    hold = _hold(meter, q, meter.along(q), off.apart)
    if hold.is_kept:
        return hold
    return replace(hold, bodies=hold.bodies or off.bodies, distance=off.distance, angle=off.angle)


def hold_along(mechanism: Mechanism, values: np.ndarray) -> Hold | None:
    """Return the hold along actuator values, from the rest pose on, and where loops do not close or jump."""
    fk = ForwardKinematics(mechanism)
    if not fk.topology.cuts or not (meter := meter_of(fk.topology)).loops:
        return None
    q, residual = fk.coordinates_along(values)
    apart, held = residual > position_met(mechanism), meter.along(q)
    held.hold[apart], held.crossed[apart] = np.inf, False  # no poses of the robot
    return _hold(meter, q, held, apart | _jumps(meter, q))


def _hold(meter: Meter, q: np.ndarray, held: Held, apart: np.ndarray) -> Hold:
    """Return what is told of the hold of the groups of loops, and of samples (T,) that are apart."""
    loops = meter.loops
    hold = _through_zero(meter, q, held)
    usual = np.maximum([each.usual for each in loops], np.where(np.isfinite(hold), hold, 0.0).max(axis=0, initial=0.0))
    bound = np.minimum(LEAST, 0.5 * usual)  # half of what a gear leaves that never has more
    for k, g in np.argwhere(hold < bound).tolist():
        hold[k, g] /= meter.share(q[k], g)
    below = (hold < bound).any(axis=1)
    frame, worst = np.unravel_index(int((hold / bound).argmin()), hold.shape)
    lost = meter.lost(q[frame], int(worst)) if (below | apart).any() else None
    return Hold(
        values=hold.min(axis=1),
        frame=int(frame),
        bound=float(bound[worst]),
        below=tuple(np.flatnonzero(below).tolist()),
        apart=tuple(np.flatnonzero(apart).tolist()),
        motors=lost.motors if lost else (),
        bodies=lost.bodies if lost and below.any() else (),
    )


def _through_zero(meter: Meter, q: np.ndarray, held: Held) -> np.ndarray:
    """Return hold (T, groups), 0 at the nearer of two samples between which it goes through 0."""
    hold = held.hold.copy()
    for k, g in np.argwhere(held.crossed).tolist():
        nearer = k - 1 if held.hold[k - 1, g] < held.hold[k, g] else k
        if meter.share(q[nearer], g) == 1.0:
            hold[nearer, g] = 0.0
    return hold


class _Off(NamedTuple):
    """Bodies that forward kinematics brings elsewhere than a bake, but for those that no motor determines."""

    apart: np.ndarray  # (T,) whether there are any
    bodies: tuple[str, ...]  # their names
    distance: float  # the largest [m]
    angle: float  # the largest [rad]


def _off(
    fk: ForwardKinematics,
    meter: Meter,
    q: np.ndarray,
    values: np.ndarray,
    base: tuple[np.ndarray, np.ndarray] | None,
) -> _Off:
    """Return where forward kinematics, from the rest pose on, brings bodies elsewhere than the coordinates."""
    flat, mechanism = fk.flat, fk.topology.mechanism
    names = np.array([mechanism.bodies[i].name for i in fk.topology.order])
    told = ~np.isin(names, list(meter.idle_bodies))
    near = SAME + flat.accepted[0] / flat.size / LEAST  # rounded files close their loops no further
    now, upright = new_placement(flat, fk.topology.rest), np.tile([1.0, 0.0, 0.0, 0.0], (flat.bodies, 1))
    apart, moved, largest = np.zeros(len(q), bool), np.zeros(flat.bodies, bool), np.zeros(2)
    for part in blocks(len(q)):
        placed = None if base is None else (base[0][part], base[1][part])
        position, quaternion, _ = fk.along(values[part], placed)
        there, way = np.zeros_like(position), np.zeros_like(quaternion)
        read_states(flat, now, np.ascontiguousarray(q[part]), upright, there, way)
        away = np.linalg.norm(position - there, axis=2) * told
        chord = np.minimum(np.linalg.norm(quaternion - way, axis=2), np.linalg.norm(quaternion + way, axis=2))
        turned = 4.0 * np.arcsin(np.minimum(0.5 * chord, 1.0)) * told
        off = (away > near * mechanism.extent) | (turned > near)
        apart[part], moved = off.any(axis=1), moved | off.any(axis=0)
        largest = np.maximum(largest, [away.max(initial=0.0), turned.max(initial=0.0)])
    return _Off(apart, tuple(names[moved].tolist()), *largest.tolist())


def _jumps(meter: Meter, q: np.ndarray) -> np.ndarray:
    """Return the samples (T,) into which coordinates of loops go further than hold lets motors bring them."""
    coordinates, step = meter.coordinates, np.zeros(len(meter.flat.before))
    loops = [(each.columns, each.columns[each.driven], min(LEAST, 0.5 * each.usual)) for each in meter.loops]
    jumps = np.zeros(len(q), bool)
    for k in range(1, len(q)):
        difference(meter.flat, q[k], q[k - 1], step)
        step /= coordinates.unit
        jumps[k] = any(
            np.linalg.norm(step[columns]) > np.linalg.norm(step[driven]) / bound + JUMP
            for columns, driven, bound in loops
        )
    return jumps
