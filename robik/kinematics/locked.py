"""Motors that their loops lock, and what the loops' numbers say of the reason.

A linkage that moves only by exact numbers, such as a head on three parallel rods, is locked where lengths or axes that
are meant to be alike differ by micrometres. Its rest pose then still has a motion that leaves nearly redundant rows
aside. Along it the loops open by little, and that tells rods drawn by hand from a truss.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

import numpy as np

from ..mechanism.kept import kept_with_robot
from ..mechanism.model import Mechanism
from ..mechanism.topology import build_topology
from .driven import actuation
from .loop_walk import LoopWalk
from .straightening import straightened

LOG = logging.getLogger(__name__)
TURN = 0.1  # rad, or of the robot's size: how far the loops are moved to see by how much they open
LITTLE = 1e-3  # of the robot's size: loops that open by less there are meant to move
ALONG = 1e-6  # of 1: a motor that has less part in all that the loops nearly leave it stands still
NAMED = 6  # joints in a sentence
LOOSER = "make a joint of theirs looser (a ball for a hinge)"


@kept_with_robot
def locked_motors(mechanism: Mechanism) -> tuple[str, ...]:
    """Return one sentence for each group of loops that lock motors: which, probably why, and what to do."""
    if not mechanism.actuated or not (mechanism.couplings or mechanism.has_loops):
        return ()
    robot = straightened(mechanism)
    stuck = actuation(robot).stuck
    if not stuck:
        return ()
    topology, said = build_topology(robot), []
    for group in range(len(topology.flat.group_row_at) - 1):
        walk = LoopWalk(topology, group)
        motors = {name: at for name in stuck if (at := _columns(walk, name)).size}
        if motors:
            whose, which = ("its", "this motor") if len(motors) == 1 else ("their", "these motors")
            said.append(f"{_listed(motors)}: {whose} loops ({_closers(walk)}) lock {which}{_why(walk, motors)}")
    return tuple(said)


@kept_with_robot
def warn_of_locked_motors(mechanism: Mechanism) -> None:
    """Log which motors a robot's loops lock; each robot is asked once."""
    for sentence in locked_motors(mechanism):
        LOG.warning("robot %r: %s", mechanism.name, sentence)


def _columns(walk: LoopWalk, joint: str) -> np.ndarray:
    """Return the places of a joint's degrees of freedom among a group's columns."""
    flat, body = walk.flat, walk.topology.joint_at[joint]
    first, last = int(flat.at_v[flat.first[body]]), int(flat.tip[body])
    return np.flatnonzero((walk.columns >= first) & (walk.columns <= last))


def _closers(walk: LoopWalk) -> str:
    """Return the names of the joints and couplings that close a group of loops."""
    cuts, couplings, rows = walk.topology.cuts, walk.topology.mechanism.couplings, len(walk.flat.row_kind)
    names = [
        cuts[int(walk.flat.row_cut[row])].name if row < rows else couplings[row - rows].name
        for row in walk.rows.tolist()
    ]
    return _listed(dict.fromkeys(names))


def _why(walk: LoopWalk, motors: dict[str, np.ndarray]) -> str:
    """Return what the loops do where the motor that they lock least is moved all the same, and what helps."""
    rest, size = walk.pose(walk.topology.rest), walk.flat.size
    free = rest.right[rest.rank :]
    parts = np.linalg.norm(free, axis=0)
    column = max((int(k) for at in motors.values() for k in at), key=lambda k: float(parts[k]))
    step = free.T @ free[:, column]
    if not step[column] > ALONG:
        return f", as a truss is held: {LOOSER}, or take the motor away"
    opening = walk.settled(walk.stepped(rest.q, step * TURN / step[column])).residual() * size
    is_slide = walk.unit[column] != 1.0
    by = f"{1e3 * TURN * size:.3g} mm" if is_slide else f"{TURN:g} rad"
    opened = f"; moved by {by} they would open by {1e3 * opening:.2g} mm"
    if opening > LITTLE * size:
        return f"{opened}: {LOOSER}, or take the motor away"
    return f"{opened} only, so lengths or axes meant to be alike probably differ a little: draw them alike, or {LOOSER}"


def _listed(names: Iterable[str]) -> str:
    """Return the first few names, and how many more there are."""
    names = list(names)
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
