"""A mechanism as a spanning tree plus cuts, in flat arrays that compiled kernels can walk.

Each body hangs on its parent by the elementary motions of its tree joint; the joints left over are cuts, and only they become
equations. The world is body 0 and the others follow, parents before children. A body's state frame sits in its centre of mass and
has the world's orientation in the rest pose (paper, III-A and III-B).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from robik.errors import MechanismError
from robik.mechanism.constraints import BALL, chain, closure_rows, drive_rows, joint_matrices
from robik.mechanism.model import WORLD, Joint, Mechanism

CLOSED = 1e-10  # of the robot's size: a loop with a residual up to this is closed


class Flat(NamedTuple):
    """The arrays. n bodies without the world, d degrees of freedom of the tree, m closure rows, k cuts.

    Bodies (n + 1): `parent`; `first` and `last` (exclusive) motion; `from_parent_R`, `from_parent_p`: the joint frame at zero in the
    parent's state frame; `to_child_R`, `to_child_p`: the child's state frame in the joint frame; `tip`: last degree of freedom that
    moves it, -1 for none; `mass`: fraction of the robot's.
    Motions: `kind`, `axis` (0 to 2, of the joint frame), `at_q` and `at_v`: first entry among coordinates and among velocities.
    Degrees of freedom (d): `before`: the next one towards the root, -1 at the end; `ball`: number of its ball or -1; `lower`,
    `upper`: bounds on the coordinate `dof_q` (-1 for a ball's).
    Cuts (k): `cut_a`, `cut_b`: bodies; rows `cut_row[i]` to `cut_row[i + 1]`; `loop`: the degrees of freedom between a and b, from a
    outwards, `loop_at[i]` to `loop_at[i + 1]`, with `loop_sign` -1 on a's side.
    Rows (m): `row_kind`, `row_cut`; OFFSET: (R_a u) · (p_b - p_a) - `row_shift`, DOT: (R_a u) · (R_b w), scaled by `size`; `row_u`,
    `row_w` in the state frames of a and b; `cut_pa`, `cut_pb` the anchors there.
    Couplings: `gear_follower`, `gear_leader` (dofs), `gear_coefficients` (g, degree + 1).
    Groups: cuts and couplings that share degrees of freedom are solved together: rows `group_rows`, columns `group_columns` with
    their starts. Rows from m on are couplings. `accepted` (1,): the residual up to which loops count as closed [m].
    `loop_column`, `gear_column` (g, 2), `column_of`
    (d,): the place of a degree of freedom among its group's.
    """

    parent: np.ndarray
    first: np.ndarray
    last: np.ndarray
    from_parent_R: np.ndarray
    from_parent_p: np.ndarray
    to_child_R: np.ndarray
    to_child_p: np.ndarray
    tip: np.ndarray
    mass: np.ndarray
    kind: np.ndarray
    axis: np.ndarray
    at_q: np.ndarray
    at_v: np.ndarray
    before: np.ndarray
    ball: np.ndarray
    dof_q: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    cut_a: np.ndarray
    cut_b: np.ndarray
    cut_row: np.ndarray
    cut_pa: np.ndarray
    cut_pb: np.ndarray
    loop: np.ndarray
    loop_sign: np.ndarray
    loop_column: np.ndarray
    loop_at: np.ndarray
    row_kind: np.ndarray
    row_cut: np.ndarray
    row_u: np.ndarray
    row_w: np.ndarray
    row_shift: np.ndarray
    gear_follower: np.ndarray
    gear_leader: np.ndarray
    gear_coefficients: np.ndarray
    gear_column: np.ndarray
    group_rows: np.ndarray
    group_row_at: np.ndarray
    group_columns: np.ndarray
    group_column_at: np.ndarray
    column_of: np.ndarray
    size: float
    accepted: np.ndarray


@dataclass(frozen=True)
class Topology:
    """A mechanism's tree and cuts.

    Attributes:
        mechanism: what it is made of.
        flat: the arrays.
        order: (n,) index in `mechanism.bodies` of flat body i + 1.
        body_at: flat index by body name, 0 for the world.
        tree: per flat body the joint it hangs on; None for the world and for a floating root without a free joint.
        cuts: the joints left over, in the order of `flat.cut_a`.
        dofs: coordinate name → its degree of freedom and sign (-1 where the tree runs from child to parent), for the scalar motions
            of tree joints.
        rest: (nq,) coordinates of the rest pose.
        rest_com: (n + 1, 3) the bodies' centres of mass in the rest pose [m].
        root: name of the floating body, None where the robot is grounded.
    """

    mechanism: Mechanism
    flat: Flat
    order: np.ndarray
    body_at: dict[str, int]
    tree: tuple[Joint | None, ...]
    cuts: tuple[Joint, ...]
    dofs: dict[str, tuple[int, int]]
    rest: np.ndarray
    rest_com: np.ndarray
    root: str | None


def build_topology(mechanism: Mechanism, driven: bool = False) -> Topology:
    """Chooses the tree and lays everything out flat.

    With `driven`, a cut joint that is actuated gets the rows of `drive_rows` as well, after its own: forward kinematics needs them.

    Actuated joints are preferred for the tree, then limited ones, whose bounds are then bounds on coordinates; joints with many free
    motions for the cuts: a cut's equations are what its joint does not leave free. A robot that nothing ties to the world floats: its
    first body hangs on the world by all six motions.
    """
    tied = any(j.parent == WORLD for j in mechanism.joints)
    floating = Joint("(floating base)", "free", WORLD, mechanism.bodies[0].name, position=tuple(mechanism.bodies[0].rest_com))
    joints = list(mechanism.joints) if tied else [floating, *mechanism.joints]
    coupled = {end for c in mechanism.couplings for end in (c.follower, c.leader)}
    wanted = {j.name for j in joints if j.actuated or not coupled.isdisjoint(j.coordinate_names)}
    tree = _spanning_tree(joints, wanted)
    root = next((body for body, i in tree if joints[i].type == "free" and joints[i].parent == WORLD), None)
    return _Layout(mechanism, joints, tree, root, driven).topology()


def _spanning_tree(joints: list[Joint], wanted: set[str]) -> list[tuple[str, int]]:
    """(body, index of the joint it hangs on), parents first: Prim's algorithm, `wanted` joints first, then
    limited ones, then those with few motions; ties go to the body nearer to the root."""
    touching: dict[str, list[int]] = {}
    for i, joint in enumerate(joints):
        for end in (joint.parent, joint.child):
            touching.setdefault(end, []).append(i)
    depth = {WORLD: 0}
    queue: list[tuple] = []
    result: list[tuple[str, int]] = []

    def open_up(body: str) -> None:
        for i in touching.get(body, ()):
            joint = joints[i]
            other = joint.child if joint.parent == body else joint.parent
            if other not in depth:
                heapq.heappush(queue, (joint.name not in wanted, not joint.is_limited, len(joint.motions), depth[body], i, other, body))

    open_up(WORLD)
    while queue:
        *_, i, body, near = heapq.heappop(queue)
        if body in depth:
            continue
        depth[body] = depth[near] + 1
        result.append((body, i))
        open_up(body)
    return result


class _Layout:
    """Fills the flat arrays of one mechanism."""

    def __init__(self, mechanism: Mechanism, joints: list[Joint], tree: list[tuple[str, int]], root: str | None, driven: bool):
        self.mechanism, self.joints, self.tree, self.root, self.driven = mechanism, joints, tree, root, driven
        self.body_at = {WORLD: 0} | {body: i + 1 for i, (body, _) in enumerate(tree)}
        self.rest_com = np.zeros((len(tree) + 1, 3))
        for body in mechanism.bodies:
            self.rest_com[self.body_at[body.name]] = body.rest_com
        self.size = self._size()
        self.dofs: dict[str, tuple[int, int]] = {}
        self.rest: list[float] = []

    def _size(self) -> float:
        """Mean distance between neighbouring joint anchors [m], which brings rotational rows to the size of the others (paper, III-C)."""
        anchors: dict[str, list[np.ndarray]] = {}
        for joint in self.mechanism.joints:
            for end in (joint.parent, joint.child):
                if end != WORLD:
                    anchors.setdefault(end, []).append(np.array(joint.position))
        spans = [float(np.linalg.norm(p - q)) for points in anchors.values() for i, p in enumerate(points) for q in points[:i]]
        spans = [s for s in spans if s > 0]
        if not spans:
            spans = [s for s in (float(np.linalg.norm(c)) for c in self.rest_com) if s > 0]
        return float(np.mean(spans)) if spans else 1.0

    def topology(self) -> Topology:
        bodies = self._bodies()
        cuts = [j for i, j in enumerate(self.joints) if i not in {index for _, index in self.tree}]
        closure = self._cuts(cuts, bodies["tip"], bodies["before"])
        gears = self._gears()
        groups = self._groups(closure, gears, len(bodies["before"]))
        index = self.mechanism.body_index
        return Topology(
            mechanism=self.mechanism,
            flat=Flat(**bodies, **closure, **gears, **groups, size=self.size, accepted=np.array([CLOSED * self.size])),
            order=np.array([index[body] for body, _ in self.tree]),
            body_at=self.body_at,
            tree=(None, *(self.joints[i] for _, i in self.tree)),
            cuts=tuple(cuts),
            dofs=self.dofs,
            rest=np.array(self.rest),
            rest_com=self.rest_com,
            root=self.root,
        )

    def _bodies(self) -> dict[str, np.ndarray]:
        n = len(self.tree) + 1
        parent, first, last, tip = (np.zeros(n, np.int64) for _ in range(4))
        tip[0] = -1
        from_R, to_R = np.tile(np.eye(3), (n, 1, 1)), np.tile(np.eye(3), (n, 1, 1))
        from_p, to_p = np.zeros((n, 3)), np.zeros((n, 3))
        motions: list[tuple[int, int, int, int]] = []
        dofs: list[tuple[int, int, int, float, float]] = []
        balls = 0
        for b, (body, index) in enumerate(self.tree, start=1):
            joint = self.joints[index]
            flipped = joint.child != body
            parent[b] = self.body_at[joint.child if flipped else joint.parent]
            parent_R, parent_p, child_R = joint_matrices(joint)
            near_R, near_p, far_R, far_p = parent_R, parent_p, child_R, np.array(joint.position)
            if flipped:
                near_R, near_p, far_R, far_p = far_R, far_p, near_R, near_p
            from_R[b], from_p[b] = near_R, near_p - self.rest_com[parent[b]]
            to_R[b], to_p[b] = far_R.T, far_R.T @ (self.rest_com[b] - far_p)
            first[b] = len(motions)
            before = int(tip[parent[b]])
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
        mass = np.zeros(n)
        for each in self.mechanism.bodies:
            mass[self.body_at[each.name]] = each.mass
        total = float(mass.sum())
        columns = list(zip(*motions, strict=True)) if motions else [(), (), (), ()]
        d = list(zip(*dofs, strict=True)) if dofs else [(), (), (), (), ()]
        return {
            "parent": parent, "first": first, "last": last, "tip": tip,
            "from_parent_R": from_R, "from_parent_p": from_p, "to_child_R": to_R, "to_child_p": to_p,
            "mass": mass / total if total > 0 else mass,
            "kind": _ints(columns[0]), "axis": _ints(columns[1]), "at_q": _ints(columns[2]), "at_v": _ints(columns[3]),
            "before": _ints(d[0]), "ball": _ints(d[1]), "dof_q": _ints(d[2]),
            "lower": np.array(d[3], dtype=float), "upper": np.array(d[4], dtype=float),
        }  # fmt: skip

    def _cuts(self, cuts: list[Joint], tip: np.ndarray, before: np.ndarray) -> dict[str, np.ndarray]:
        a, b, row_at, loop_at = [], [], [0], [0]
        pa, pb = np.zeros((len(cuts), 3)), np.zeros((len(cuts), 3))
        loop: list[int] = []
        sign: list[float] = []
        rows: list[tuple[int, int, np.ndarray, np.ndarray]] = []
        for i, joint in enumerate(cuts):
            a.append(self.body_at[joint.parent])
            b.append(self.body_at[joint.child])
            parent_R, parent_p, child_R = joint_matrices(joint)
            pa[i] = parent_p - self.rest_com[a[i]]
            pb[i] = np.array(joint.position) - self.rest_com[b[i]]
            own = closure_rows(joint, parent_R, child_R)
            if self.driven and joint.actuated:
                own += [row[:3] for row in drive_rows(joint, joint.rest)]
            rows.extend((kind, i, u, w) for kind, u, w in own)
            row_at.append(len(rows))
            inward, outward = _path(int(tip[a[i]]), before), _path(int(tip[b[i]]), before)
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
            "row_u": np.array([r[2] for r in rows]).reshape(-1, 3), "row_w": np.array([r[3] for r in rows]).reshape(-1, 3),
            "row_shift": np.zeros(len(rows)),
        }  # fmt: skip

    def _gears(self) -> dict[str, np.ndarray]:
        degree = max((len(c.coefficients) for c in self.mechanism.couplings), default=1)
        coefficients = np.zeros((len(self.mechanism.couplings), degree))
        follower, leader = [], []
        for g, coupling in enumerate(self.mechanism.couplings):
            for end in (coupling.follower, coupling.leader):
                if end not in self.dofs:
                    raise MechanismError(
                        f"coupling {coupling.name!r}: {end!r} is a ball's or closes a loop; couple a scalar coordinate of another joint"
                    )
            (dof, f_sign), (lead, l_sign) = self.dofs[coupling.follower], self.dofs[coupling.leader]
            follower.append(dof)
            leader.append(lead)
            for k, c in enumerate(coupling.coefficients):
                coefficients[g, k] = c * f_sign * l_sign**k
        return {"gear_follower": _ints(follower), "gear_leader": _ints(leader), "gear_coefficients": coefficients}

    def _groups(self, closure: dict[str, np.ndarray], gears: dict[str, np.ndarray], dofs: int) -> dict[str, np.ndarray]:
        """Cuts and couplings that share a degree of freedom, directly or through others, form a group."""
        loop, at, m = closure["loop"].tolist(), closure["loop_at"], len(closure["row_kind"])
        touched = [set(loop[at[i] : at[i + 1]]) for i in range(len(at) - 1)]
        rows = [list(range(closure["cut_row"][i], closure["cut_row"][i + 1])) for i in range(len(touched))]
        for g, pair in enumerate(zip(gears["gear_follower"].tolist(), gears["gear_leader"].tolist(), strict=True)):
            touched.append(set(pair))
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
        pairs = zip(gears["gear_follower"].tolist(), gears["gear_leader"].tolist(), strict=True)
        return {
            "loop_column": _ints([place[c] for c in loop]),
            "column_of": _ints([place.get(c, -1) for c in range(dofs)]),
            "gear_column": _ints([(place[f], place[lead]) for f, lead in pairs]).reshape(-1, 2),
            "group_rows": _ints([r for group in groups for r in group[0]]),
            "group_row_at": _ints(np.cumsum([0, *(len(group[0]) for group in groups)])),
            "group_columns": _ints([c for group in groups for c in sorted(group[1])]),
            "group_column_at": _ints(np.cumsum([0, *(len(group[1]) for group in groups)])),
        }


def _path(tip: int, before: np.ndarray) -> list[int]:
    """Degrees of freedom from `tip` to the root."""
    path = []
    while tip >= 0:
        path.append(tip)
        tip = int(before[tip])
    return path


def _ints(values: object) -> np.ndarray:
    return np.array(values, dtype=np.int64).reshape(-1)
