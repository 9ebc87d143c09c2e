"""A mechanism as a spanning tree plus cuts, in flat arrays that compiled kernels can walk.

Each body hangs on its parent by the elementary motions of its tree joint; the joints left over are cuts, and only they
become equations. Where a cut joint's coordinates matter (it is actuated, limited or coupled), the loop is cut beside
the joint: a twin of its child, without mass or state, hangs on the joint, and what is cut is the weld of the twin to
the child. So whatever is asked of a coordinate is asked of one in the tree. The world is body 0 and the others follow,
parents before children, twins last. A body's state frame sits in its centre of mass and has the world's orientation in
the rest pose (paper, III-A and III-B).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from math import inf, pi
from typing import Any, NamedTuple

import numpy as np

from ..errors import MechanismError
from .ball_limits import Measured, measure_balls
from .clusters import coupled_dofs, find_clusters, path_to_root
from .constraints import BALL, chain, closure_rows, faced_axes, joint_matrices
from .kept import kept_with_robot
from .model import Mechanism
from .parts import WORLD, Joint
from .size import mean_link
from .spanning_tree import spanning_tree

SMALL = 64  # degrees of freedom up to which a matrix is quicker than the way from the tips to the root and back
CLOSED = 1e-10  # of the robot's size: a loop with a residual up to this is closed
WRITTEN = (  # arrays that change while a robot is solved: its ranges, and where contacts and tips of balls are
    "lower", "upper", "accepted", "from_parent_R", "from_parent_p", "cut_pa", "cut_pb", "row_u", "faced_u",
)  # fmt: skip


class Flat(NamedTuple):
    """Arrays of a mechanism for the kernels.

    n bodies without the world, twins included; d degrees of freedom of the tree; m closure rows, k cuts and g
    couplings. Rows from m on are couplings. Cuts and couplings that share degrees of freedom are a group, solved
    together. A cluster holds degrees of freedom that groups or a joint tie together, and the bodies they move first; it
    hangs on a body, and parents come before children.
    """

    parent: np.ndarray  # (n + 1,) body that a body hangs on
    first: np.ndarray  # (n + 1,) its first motion
    last: np.ndarray  # (n + 1,) the motion after its last
    from_parent_R: np.ndarray  # (n + 1, 3, 3) joint frame at zero in the parent's state frame
    from_parent_p: np.ndarray  # (n + 1, 3) its position [m]
    to_child_R: np.ndarray  # (n + 1, 3, 3) the child's state frame in the joint frame
    to_child_p: np.ndarray  # (n + 1, 3) its position [m]
    tip: np.ndarray  # (n + 1,) last degree of freedom that moves it, -1 for none
    mass: np.ndarray  # (n + 1,) share of the robot's
    kind: np.ndarray  # of each motion: HINGE, SLIDE or BALL
    axis: np.ndarray  # of each motion, 0 to 2 of the joint frame
    at_q: np.ndarray  # first entry of each motion among coordinates
    at_v: np.ndarray  # first entry of each motion among velocities
    before: np.ndarray  # (d,) next degree of freedom towards the root, -1 at the end
    ball: np.ndarray  # (d,) number of its ball, or -1
    dof_q: np.ndarray  # (d,) its coordinate, -1 for a ball's
    lower: np.ndarray  # (d,) bound on that [rad or m]
    upper: np.ndarray  # (d,) likewise
    cut_a: np.ndarray  # (k,) body on side a
    cut_b: np.ndarray  # (k,) body on side b
    cut_row: np.ndarray  # (k + 1,) first row of each cut
    cut_pa: np.ndarray  # (k, 3) anchor in the state frame of a [m]
    cut_pb: np.ndarray  # (k, 3) anchor in the state frame of b [m]
    loop: np.ndarray  # degrees of freedom between a and b of each cut, from a outwards
    loop_sign: np.ndarray  # -1 on a's side, else 1
    loop_column: np.ndarray  # place of each among its group's
    loop_at: np.ndarray  # (k + 1,) first entry of each cut in `loop`
    row_kind: np.ndarray  # (m,) OFFSET: (R_a u) · (p_b - p_a), or DOT: (R_a u) · (R_b w), scaled by `size`
    row_cut: np.ndarray  # (m,) cut of each row
    row_u: np.ndarray  # (m, 3) in the state frame of a
    row_w: np.ndarray  # (m, 3) in the state frame of b
    faced_cut: np.ndarray  # cut of each pair of axes that point the same way where it is closed
    faced_u: np.ndarray  # (…, 3) axis in the state frame of a
    faced_w: np.ndarray  # (…, 3) axis in the state frame of b
    coupling_follower: np.ndarray  # (g,) dependent degree of freedom of each coupling
    coupling_leader: np.ndarray  # (g,) independent degree of freedom of each coupling
    coupling_coefficients: np.ndarray  # (g, degree + 1) polynomials
    coupling_column: np.ndarray  # (g, 2) places of both among their group's
    coupling_other: np.ndarray  # further independent degrees of freedom of all couplings
    coupling_slope: np.ndarray  # slope of each
    coupling_other_at: np.ndarray  # (g + 1,) first of each coupling
    coupling_other_column: np.ndarray  # place of each among its group's
    group_rows: np.ndarray  # rows of all groups
    group_row_at: np.ndarray  # first row of each group
    group_columns: np.ndarray  # degrees of freedom of all groups
    group_column_at: np.ndarray  # first column of each group
    column_of: np.ndarray  # (d,) place among the group's, -1 without one
    cluster_on: np.ndarray  # (clusters,) body that each hangs on
    cluster_body: np.ndarray  # bodies of all clusters
    cluster_body_at: np.ndarray  # first body of each cluster
    cluster_dof: np.ndarray  # degrees of freedom of all clusters
    cluster_dof_at: np.ndarray  # first degree of freedom of each cluster
    cluster_group: np.ndarray  # groups of all clusters
    cluster_group_at: np.ndarray  # first group of each cluster
    cluster_of: np.ndarray  # (n + 1,) cluster of a body, -1 for one that stands still
    cluster_of_dof: np.ndarray  # (d,) cluster of a degree of freedom
    place_in: np.ndarray  # (d,) place among its cluster's
    span_first: np.ndarray  # (d,) for each of `cluster_dof`: first place that second derivatives tie it to
    span_beyond: np.ndarray  # (d,) place after the last one
    bodies: int  # number of the robot's bodies; those behind them are twins
    size: float  # length that brings rotational rows to the size of the others [m]
    accepted: np.ndarray  # (1,) residual up to which loops near the origin count as closed [m]


@dataclass(frozen=True)
class Topology:
    """A mechanism's tree and cuts.

    Attributes:
        mechanism: what it is made of.
        flat: the arrays.
        order: (bodies,) index in `mechanism.bodies` of flat body i + 1.
        body_at: flat index by body name, 0 for the world.
        joint_at: flat index of the body that hangs on a joint, by the joint's name.
        cuts: what ties bodies beside the tree, in the order of `flat.cut_a`: joints, and the welds of twins under their
            joints' names.
        dofs: coordinate name → its degree of freedom and sign (-1 where the tree runs from child to parent), for the
            scalar motions of tree joints.
        rest: (nq,) coordinates of the rest pose.
        rest_com: (n + 1, 3) the bodies' centres of mass in the rest pose [m].
        base: the joint with all six motions that a floating robot hangs on the world by; None where the robot is
            grounded.
        steps: of each ball whose turn from frame to frame is measured, the names of the coordinates that do so: three
            terms and their sum. The cuts of the terms have the same names.
        known: what has been worked out of the layout; copies share it.
    """

    mechanism: Mechanism
    flat: Flat
    order: np.ndarray
    body_at: dict[str, int]
    joint_at: dict[str, int]
    cuts: tuple[Joint, ...]
    dofs: dict[str, tuple[int, int]]
    rest: np.ndarray
    rest_com: np.ndarray
    base: Joint | None
    steps: dict[str, tuple[str, ...]]
    known: dict[str, Any] = field(default_factory=dict)

    def copy(self) -> Topology:
        """Return the same layout with `WRITTEN` arrays of its own."""
        flat = self.flat
        return replace(self, flat=flat._replace(**{name: getattr(flat, name).copy() for name in WRITTEN}))

    @property
    def root(self) -> str | None:
        """Name of the floating body, None where the robot is grounded."""
        return self.base.child if self.base else None


def build_topology(mechanism: Mechanism, asked: Collection[str] = ()) -> Topology:
    """Return a mechanism's tree (`spanning_tree`), cuts and arrays, without the limits of balls.

    `asked` names coordinates that must be in the tree, even if they are not actuated, limited or coupled.
    """
    return _plain(mechanism, frozenset(asked)).copy()


@kept_with_robot
def _plain(mechanism: Mechanism, asked: frozenset[str]) -> Topology:
    return lay_out(mechanism, Measured(*spanning_tree(mechanism, asked)))


def limited_topology(mechanism: Mechanism, held: Sequence[str] = ()) -> Topology:
    """Return the topology of a mechanism whose balls' limits are limits of coordinates (`ball_limits.py`).

    The turn of `held` balls from frame to frame is measured, too. Without limited balls it is `build_topology`'s.
    """
    if not held and all(joint.cone >= pi and joint.turn_limit >= pi for joint in mechanism.joints):
        return build_topology(mechanism)
    return _limited(mechanism, tuple(held)).copy()


@kept_with_robot
def _limited(mechanism: Mechanism, held: tuple[str, ...]) -> Topology:
    return lay_out(mechanism, measure_balls(mechanism, held))


def lay_out(mechanism: Mechanism, measured: Measured) -> Topology:
    """Return the topology on a given tree, with twins that measure its balls."""
    return _Layout(mechanism, measured).topology()


def loop_groups(flat: Flat) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return row and column indices of each group of closure equations that share degrees of freedom."""
    rows, columns = (
        np.split(flat.group_rows, flat.group_row_at[1:]),
        np.split(flat.group_columns, flat.group_column_at[1:]),
    )
    return list(zip(rows[:-1], columns[:-1], strict=True))


class _Layout:
    """Fills the flat arrays of one mechanism."""

    def __init__(self, mechanism: Mechanism, measured: Measured):
        tree, cuts, steps = measured.tree, measured.cuts, measured.steps
        self.mechanism, self.tree, self.cuts, self.steps = mechanism, tree, cuts, steps
        self.couplings = (*mechanism.couplings, *measured.couplings)
        self.body_at = {WORLD: 0} | {body: i + 1 for i, (body, _) in enumerate(tree)}
        self.rest_com = np.zeros((len(tree) + 1, 3))
        for body, joint in tree[len(mechanism.bodies) :]:
            self.rest_com[self.body_at[body]] = joint.position
        for each in mechanism.bodies:
            self.rest_com[self.body_at[each.name]] = each.rest_com
        self.size = mean_link(mechanism)
        self.dofs: dict[str, tuple[int, int]] = {}
        self.rest: list[float] = []

    def topology(self) -> Topology:
        bodies = self._bodies()
        closure = self._closure(bodies["tip"], bodies["before"])
        couplings = self._couplings()
        groups = self._groups(closure, couplings, len(bodies["before"]))
        clusters = find_clusters(bodies, closure, couplings, groups)
        n, index, accepted = len(self.mechanism.bodies), self.mechanism.body_index, np.array([CLOSED * self.size])
        return Topology(
            mechanism=self.mechanism,
            flat=Flat(
                **bodies, **closure, **couplings, **groups, **clusters, bodies=n, size=self.size, accepted=accepted
            ),
            order=np.array([index[body] for body, _ in self.tree[:n]]),
            body_at=self.body_at,
            joint_at={joint.name: self.body_at[body] for body, joint in self.tree},
            cuts=tuple(self.cuts),
            dofs=self.dofs,
            rest=np.array(self.rest),
            rest_com=self.rest_com,
            steps=self.steps,
            base=next((joint for _, joint in self.tree[:n] if joint.type == "free" and joint.parent == WORLD), None),
        )

    def _mass_shares(self, n: int) -> np.ndarray:
        """Return the share of each body (n,) in the robot's mass; twins have none."""
        mass = np.zeros(n)
        for each in self.mechanism.bodies:
            mass[self.body_at[each.name]] = each.mass
        total = float(mass.sum())
        return mass / total if total > 0 else mass

    def _bodies(self) -> dict[str, np.ndarray]:
        n = len(self.tree) + 1
        parent, first, last, tip = (np.zeros(n, np.int64) for _ in range(4))
        tip[0], balls = -1, 0
        from_R, to_R = np.tile(np.eye(3), (n, 1, 1)), np.tile(np.eye(3), (n, 1, 1))
        from_p, to_p = np.zeros((n, 3)), np.zeros((n, 3))
        motions: list[tuple[int, int, int, int]] = []
        dofs: list[tuple[int, int, int, float, float]] = []
        for b, (body, joint) in enumerate(self.tree, start=1):
            flipped = joint.child != body
            parent[b] = self.body_at[joint.child if flipped else joint.parent]
            parent_R, parent_p, child_R = joint_matrices(joint)
            near_R, near_p, far_R, far_p = parent_R, parent_p, child_R, np.array(joint.position)
            if flipped:
                near_R, near_p, far_R, far_p = far_R, far_p, near_R, near_p
            from_R[b], from_p[b] = near_R, near_p - self.rest_com[parent[b]]
            to_R[b], to_p[b] = far_R.T, far_R.T @ (self.rest_com[b] - far_p)
            first[b], before = len(motions), int(tip[parent[b]])
            for motion in chain(joint, flipped):
                motions.append((motion.kind, motion.axis, len(self.rest), len(dofs)))
                if motion.kind == BALL:
                    for k in range(3):
                        dofs.append((before if k == 0 else len(dofs) - 1, balls, -1, -inf, inf))
                    balls += 1
                else:
                    dofs.append((before, -1, len(self.rest), motion.lower, motion.upper))
                    self.dofs[motion.name] = (len(dofs) - 1, motion.sign)
                self.rest.extend(motion.rest)
                before = len(dofs) - 1
            last[b], tip[b] = len(motions), before
        columns = list(zip(*motions, strict=True)) if motions else [(), (), (), ()]
        d = list(zip(*dofs, strict=True)) if dofs else [(), (), (), (), ()]
        return {
            "parent": parent, "first": first, "last": last, "tip": tip,
            "from_parent_R": from_R, "from_parent_p": from_p, "to_child_R": to_R, "to_child_p": to_p,
            "mass": self._mass_shares(n),
            "kind": _ints(columns[0]), "axis": _ints(columns[1]), "at_q": _ints(columns[2]), "at_v": _ints(columns[3]),
            "before": _ints(d[0]), "ball": _ints(d[1]), "dof_q": _ints(d[2]),
            "lower": np.array(d[3], dtype=float), "upper": np.array(d[4], dtype=float),
        }  # fmt: skip

    def _closure(self, tip: np.ndarray, before: np.ndarray) -> dict[str, np.ndarray]:
        cuts = self.cuts
        a, b, row_at, loop_at = [], [], [0], [0]
        pa, pb = np.zeros((len(cuts), 3)), np.zeros((len(cuts), 3))
        loop: list[int] = []
        sign: list[float] = []
        rows: list[tuple[int, int, np.ndarray, np.ndarray]] = []
        faced: list[tuple[int, np.ndarray, np.ndarray]] = []
        for i, joint in enumerate(cuts):
            a.append(self.body_at[joint.parent])
            b.append(self.body_at[joint.child])
            parent_R, parent_p, child_R = joint_matrices(joint)
            pa[i] = parent_p - self.rest_com[a[i]]
            pb[i] = np.array(joint.position) - self.rest_com[b[i]]
            rows.extend((kind, i, u, w) for kind, u, w in closure_rows(joint, parent_R, child_R))
            row_at.append(len(rows))
            faced.extend((i, u, w) for u, w in faced_axes(joint, parent_R, child_R))
            inward, outward = path_to_root(int(tip[a[i]]), before), path_to_root(int(tip[b[i]]), before)
            shared = set(inward) & set(outward)
            inward = [j for j in inward if j not in shared]
            outward = [j for j in reversed(outward) if j not in shared]
            loop.extend(inward + outward)
            sign.extend([-1.0] * len(inward) + [1.0] * len(outward))
            loop_at.append(len(loop))
        return {
            "cut_a": _ints(a), "cut_b": _ints(b), "cut_row": _ints(row_at), "cut_pa": pa, "cut_pb": pb,
            "loop": _ints(loop), "loop_sign": np.array(sign, dtype=float), "loop_at": _ints(loop_at),
            "row_kind": _ints([r[0] for r in rows]), "row_cut": _ints([r[1] for r in rows]),
            "row_u": np.array([r[2] for r in rows]).reshape(-1, 3),
            "row_w": np.array([r[3] for r in rows]).reshape(-1, 3),
            "faced_cut": _ints([f[0] for f in faced]),
            "faced_u": np.array([f[1] for f in faced]).reshape(-1, 3),
            "faced_w": np.array([f[2] for f in faced]).reshape(-1, 3),
        }  # fmt: skip

    def _couplings(self) -> dict[str, np.ndarray]:
        degree = max((len(c.coefficients) for c in self.couplings), default=1)
        coefficients = np.zeros((len(self.couplings), degree))
        follower, leader = [], []
        other, slope, at = [], [], [0]
        for g, coupling in enumerate(self.couplings):
            for end in coupling.ends:
                if end not in self.dofs:
                    raise MechanismError(
                        f"coupling {coupling.name!r}: {end!r} is a ball's; couple a coordinate that is a single angle"
                        " or length"
                    )
            (dof, f_sign), (lead, l_sign) = self.dofs[coupling.follower], self.dofs[coupling.leader]
            follower.append(dof)
            leader.append(lead)
            for k, c in enumerate(coupling.coefficients):
                coefficients[g, k] = c * f_sign * l_sign**k
            for name, weight in coupling.others:
                dof, sign = self.dofs[name]
                other.append(dof)
                slope.append(weight * f_sign * sign)
            at.append(len(other))
        return {
            "coupling_follower": _ints(follower),
            "coupling_leader": _ints(leader),
            "coupling_coefficients": coefficients,
            "coupling_other": _ints(other),
            "coupling_slope": np.array(slope, dtype=float),
            "coupling_other_at": _ints(at),
        }

    def _groups(
        self, closure: dict[str, np.ndarray], couplings: dict[str, np.ndarray], dofs: int
    ) -> dict[str, np.ndarray]:
        """Return groups of cuts and couplings that share a degree of freedom, directly or through others."""
        loop, at, m = closure["loop"].tolist(), closure["loop_at"], len(closure["row_kind"])
        touched = [set(loop[at[i] : at[i + 1]]) for i in range(len(at) - 1)]
        rows = [list(range(closure["cut_row"][i], closure["cut_row"][i + 1])) for i in range(len(touched))]
        for g, ends in enumerate(coupled_dofs(couplings)):
            touched.append(set(ends))
            rows.append([m + g])
        groups: list[tuple[list[int], set[int]]] = []
        for own_rows, own_columns in zip(rows, touched, strict=True):
            joined_rows, joined_columns, others = list(own_rows), set(own_columns), []
            for other in groups:
                if joined_columns.isdisjoint(other[1]):
                    others.append(other)
                else:
                    joined_rows, joined_columns = other[0] + joined_rows, joined_columns | other[1]
            groups = [*others, (joined_rows, joined_columns)]
        place = {c: i for group in groups for i, c in enumerate(sorted(group[1]))}
        pairs = zip(couplings["coupling_follower"].tolist(), couplings["coupling_leader"].tolist(), strict=True)
        return {
            "loop_column": _ints([place[c] for c in loop]),
            "column_of": _ints([place.get(c, -1) for c in range(dofs)]),
            "coupling_column": _ints([(place[f], place[lead]) for f, lead in pairs]).reshape(-1, 2),
            "coupling_other_column": _ints([place[c] for c in couplings["coupling_other"].tolist()]),
            "group_rows": _ints([r for group in groups for r in group[0]]),
            "group_row_at": _ints(np.cumsum([0, *(len(group[0]) for group in groups)])),
            "group_columns": _ints([c for group in groups for c in sorted(group[1])]),
            "group_column_at": _ints(np.cumsum([0, *(len(group[1]) for group in groups)])),
        }


def _ints(values: object) -> np.ndarray:
    return np.array(values, dtype=np.int64).reshape(-1)
