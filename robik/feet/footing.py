"""Footing: a robot's tree while it stands, rooted in the first of its contacts, with a cut for every other one.

One standing foot then costs nothing, since the floating base's six motions drop out of the tree. The joints of the tree
are the same in every footing, so their coordinates carry over by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..mechanism.ball_limits import measure_balls
from ..mechanism.constraints import closure_rows, faced_axes, joint_matrices
from ..mechanism.model import Mechanism
from ..mechanism.parts import WORLD, Joint
from ..mechanism.spanning_tree import rerooted
from ..mechanism.topology import Topology, lay_out
from .contact import Hold


@dataclass(frozen=True)
class Footing:
    """A robot's tree and cuts while some of its frames are in contact.

    Attributes:
        topology: the tree, rooted in the first contact where the robot floats.
        holds: what the contacts hold.
        places: per contact the flat body that hangs on the world by it, or -1 and its cut.
    """

    topology: Topology
    holds: tuple[Hold, ...]
    places: tuple[tuple[int, int], ...]

    def put(self, contact: int, place: np.ndarray, axes: np.ndarray) -> None:
        """Move a contact's joint, on the world side, to a place (3,) [m] with axes (3, 3) in columns."""
        flat, (body, cut) = self.topology.flat, self.places[contact]
        if body >= 0:
            flat.from_parent_R[body], flat.from_parent_p[body] = axes, place
            return
        flat.cut_pa[cut] = place
        joint = self.holds[contact].joint
        rows = closure_rows(joint, axes, joint.matrix)
        for row, (_, u, _) in enumerate(rows, start=int(flat.cut_row[cut])):
            flat.row_u[row] = u
        faced = np.flatnonzero(flat.faced_cut == cut)
        for row, (u, _) in zip(faced, faced_axes(joint, axes, joint.matrix), strict=True):
            flat.faced_u[row] = u


def build_footing(
    mechanism: Mechanism, holds: Sequence[Hold], held: Sequence[str] = (), rooted: bool = True
) -> Footing:
    """Return the footing of a robot on at least one contact.

    A floating robot's tree is rooted in the first one if `rooted`; else it is that of the robot in the air, and
    every contact a cut. The turn of `held` balls from frame to frame is measured.
    """
    measured = measure_balls(mechanism, held)
    tree, cuts = measured.tree, measured.cuts
    joints = [hold.joint for hold in holds]
    base = _floating_base(mechanism, tree, joints[0]) if rooted else None
    if base is not None:
        tree, rest = rerooted(tree, len(mechanism.bodies), joints[0], base), joints[1:]
    else:
        rest = joints
    topology = lay_out(mechanism, replace(measured, tree=tree, cuts=[*cuts, *rest]))
    places = [(-1, len(cuts) + i) for i in range(len(rest))]
    if base is not None:
        places.insert(0, (topology.joint_at[joints[0].name], -1))
    footing = Footing(topology, tuple(holds), tuple(places))
    for i, joint in enumerate(joints):
        axes, place, _ = joint_matrices(joint)
        footing.put(i, place, axes)
    return footing


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
