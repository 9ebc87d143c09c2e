"""Footing: a robot's tree while it stands, rooted in the first of its contacts, with a cut for every other one.

One standing foot then costs nothing, since the floating base's six motions drop out of the tree. The joints of the tree
are the same in every footing, so their coordinates carry over by name. A set of contacts is laid out once per robot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..mechanism.ball_limits import measure_balls
from ..mechanism.constraints import closure_rows, faced_axes, joint_matrices
from ..mechanism.kept import kept_with_robot
from ..mechanism.model import Mechanism
from ..mechanism.parts import WORLD, Joint
from ..mechanism.spanning_tree import rerooted
from ..mechanism.topology import Topology, lay_out, limited_topology
from .contact import Hold

Held = tuple[str, ...]  # names of the balls whose turn from frame to frame is measured


class Place(NamedTuple):
    """Place of a contact among the arrays of a footing."""

    body: int = -1  # that hangs on the world by it, -1 where it is a cut
    cut: int = -1  # its number
    rows: slice = slice(0)  # of the closure
    row_axes: tuple[int, ...] = ()  # the contact's axis that each of them is along
    faced: slice = slice(0)  # pairs of axes that point the same way
    faced_axes: tuple[int, ...] = ()  # the contact's axis of each


@dataclass(frozen=True)
class Footing:
    """A robot's tree and cuts while some of its frames are in contact.

    Attributes:
        topology: the tree, rooted in the first contact where the robot floats.
        loops: the same tree without cuts for contacts.
        holds: what the contacts hold.
        places: of the contacts.
    """

    topology: Topology
    loops: Topology
    holds: tuple[Hold, ...]
    places: tuple[Place, ...]

    def put(self, contact: int, place: np.ndarray, axes: np.ndarray) -> None:
        """Move a contact's joint, on the world side, to a place (3,) [m] with axes (3, 3) in columns."""
        flat, at = self.topology.flat, self.places[contact]
        if at.body >= 0:
            flat.from_parent_R[at.body], flat.from_parent_p[at.body] = axes, place
            return
        flat.cut_pa[at.cut] = place
        flat.row_u[at.rows] = axes.T[at.row_axes, :]
        flat.faced_u[at.faced] = axes.T[at.faced_axes, :]


def build_footing(
    mechanism: Mechanism, holds: Sequence[Hold], held: Sequence[str] = (), rooted: bool = True
) -> Footing:
    """Return the footing of a robot on at least one contact, with arrays of its own (`Topology.copy`).

    A floating robot's tree is rooted in the first one if `rooted`; else it is that of the robot in the air, and
    every contact a cut. The turn of `held` balls from frame to frame is measured.
    """
    known = laid_out(mechanism, tuple(holds), tuple(held), rooted=rooted)
    return replace(known, topology=known.topology.copy())


@kept_with_robot
def laid_out(mechanism: Mechanism, holds: tuple[Hold, ...], held: Held, rooted: bool) -> Footing:
    """Return the footing of a robot on these contacts; on none it is the robot in the air."""
    air = limited_topology(mechanism, held)
    if not holds:
        return Footing(air, air, (), ())
    measured = measure_balls(mechanism, held)
    tree, cuts = measured.tree, measured.cuts
    joints = [hold.joint for hold in holds]
    base = _floating_base(mechanism, tree, joints[0]) if rooted else None
    if base is not None:
        tree, rest = rerooted(tree, len(mechanism.bodies), joints[0], base), joints[1:]
    else:
        rest = joints
    topology = lay_out(mechanism, replace(measured, tree=tree, cuts=[*cuts, *rest]))
    topology = replace(topology, known=air.known)  # contacts close as far as the robot's own loops
    places = [_place(topology, len(cuts) + i, joint) for i, joint in enumerate(rest)]
    if base is not None:
        places.insert(0, Place(body=topology.joint_at[joints[0].name]))
    loops = (
        topology if not rest else air if base is None else laid_out(mechanism, holds[:1], held, rooted=True).topology
    )
    footing = Footing(topology, loops, holds, tuple(places))
    for i, joint in enumerate(joints):
        axes, place, _ = joint_matrices(joint)
        footing.put(i, place, axes)
    return footing


def _place(topology: Topology, cut: int, joint: Joint) -> Place:
    """Return the place of a contact that is a cut."""
    flat, axes = topology.flat, np.eye(3)
    faced = np.flatnonzero(flat.faced_cut == cut)
    start = int(faced[0]) if len(faced) else 0
    return Place(
        cut=cut,
        rows=slice(int(flat.cut_row[cut]), int(flat.cut_row[cut + 1])),
        row_axes=tuple(int(row.u.argmax()) for row in closure_rows(joint, axes, axes)),
        faced=slice(start, start + len(faced)),
        faced_axes=tuple(int(u.argmax()) for u, _ in faced_axes(joint, axes, axes)),
    )


def _floating_base(mechanism: Mechanism, tree: list[tuple[str, Joint]], contact: Joint) -> Joint | None:
    """Return the joint that the part of the robot with this contact floats by; None where it is tied to the world."""
    coupled = {end for c in mechanism.couplings for end in c.ends}
    on: dict[str, Joint] = {}
    joint_of = dict(tree)
    for body, joint in tree[: len(mechanism.bodies)]:
        near = joint.child if joint.child != body else joint.parent
        on[body] = joint if near == WORLD else on[near]
    base = on[contact.child]
    free = base.type == "free" and not base.actuated and not base.is_limited
    return base if free and coupled.isdisjoint(base.coordinate_names) and joint_of[base.child] is base else None
