"""Posture: joints drawn to a pose, weakly, where the other objectives leave a choice.

    f = ½ Σᵢ wᵢ (qᵢ − q̂ᵢ)²

q is the coordinate of a joint [rad], or [m] in units of ℓ. It pulls at a degree of freedom itself, not at bodies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..errors import ClipError
from ..jit import by_reference, kernel
from ..mechanism.model import Mechanism
from ..mechanism.parts import Joint
from ..mechanism.topology import Topology
from .ends import ints
from .fields import Field, T
from .keys import KeyForm
from .objective import Kernels, Objective, States, TargetError
from .rows import Row, RowKind


class Postures(NamedTuple):
    """The t coordinates that are drawn, in compiled form."""

    dof: np.ndarray  # (t,) degree of freedom
    sign: np.ndarray  # (t,) -1 where the tree's coordinate is the joint's negative
    length: np.ndarray  # (t,) whether it is a length: 1, else 0
    weight: np.ndarray  # (t,) over ℓ² for lengths
    target: np.ndarray  # (t,) [rad or m]


@kernel
def add_value(flat, now, postures, total):
    """Return `total` with the objective added."""
    for t in range(postures.dof.shape[0]):
        off = now.q[flat.dof_q[postures.dof[t]]] - postures.sign[t] * postures.target[t]
        total += 0.5 * postures.weight[t] * off * off
    return total


@kernel
def add_terms(flat, now, postures, terms, share):
    """Add pulls and stiffness to the degrees of freedom, with a `share` of the pulls."""
    for t in range(postures.dof.shape[0]):
        i = postures.dof[t]
        terms.pull[i] += share * postures.weight[t] * (now.q[flat.dof_q[i]] - postures.sign[t] * postures.target[t])
        terms.hold[i] += postures.weight[t]


@dataclass(frozen=True)
class Posture(Objective):
    """A coordinate of a joint that is drawn to a value.

    Attributes:
        joint: name of the coordinate, the joint's own where it has one motion, else as `hip.rx`.
        value: (T,) [rad or m].
    """

    joint: str
    value: np.ndarray

    KEY = KeyForm("posture.{joint}")
    FIELDS = (Field("value", (T,), "rad or m", column="target"),)
    NAME, TABLE, KERNELS, WEIGHT = "posture", Postures, Kernels(add_value, add_terms), 1e-3
    ROW = RowKind(
        key="REST_POSE",
        label="Rest Pose",
        about=(
            "Draws the joints weakly to the robot's rest pose where the other rows leave them a choice: those of the"
            " limb that ends in the robot frame, or without one all of them"
        ),
        fields=(("frame", "Limb Up To"),),
        needs=(),
    )

    @classmethod
    def read_key(cls, key: str) -> dict[str, str] | None:
        names = super().read_key(key)
        return None if names and names["joint"] in ("position", "quaternion", "contact") else names  # a frame's track

    def check(self, mechanism: Mechanism) -> None:
        drawable = drawable_coordinates(mechanism)
        if self.joint not in drawable:
            raise ClipError(
                f"the clip's {self.key!r} draws {self.joint!r}, which is no coordinate of robot {mechanism.name!r} that"
                " can be drawn: actuated, limited or coupled, and not a ball's; there are"
                f" {', '.join(drawable) or 'none'}"
            )

    def weigh(self, table: Any, i: int, weight: float, per_square_metre: float) -> None:
        table.weight[i] = weight * (per_square_metre if table.length[i] else 1.0)

    def errors(self, states: States, weight: float) -> list[TargetError]:
        return []  # a posture is a preference, which the other objectives may leave unmet

    @classmethod
    def table(
        cls, topology: Topology, items: Sequence[Posture], slots: Sequence[int], views: Sequence[np.ndarray]
    ) -> Postures:
        return new_postures(topology, tuple(item.joint for item in items), views[0])

    @classmethod
    def of_row(cls, mechanism: Mechanism, row: Row) -> list[tuple[Posture, float]]:
        return [
            (cls(name, np.full(row.samples, rest)), cls.WEIGHT * row.weight)
            for name, rest in rest_values(mechanism, row.frame).items()
        ]


def new_postures(topology: Topology, names: Sequence[str], target: np.ndarray) -> Postures:
    """Return the compiled table of t coordinates, all weights zero."""
    units = {
        n: u
        for joint in topology.mechanism.joints
        for n, u in zip(joint.coordinate_names, joint.coordinate_units, strict=True)
    }
    found = [topology.dofs[name] for name in names]
    return by_reference(
        Postures(
            dof=ints([dof for dof, _ in found]),
            sign=np.array([float(sign) for _, sign in found]),
            length=ints([units[name] == "m" for name in names]),
            weight=np.zeros(len(names)),
            target=target,
        )
    )


def drawable_coordinates(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the names of the scalar coordinates that are the solver's own whichever way loops are cut."""
    coupled = {end for c in mechanism.couplings for end in c.ends}
    return tuple(
        name
        for joint in mechanism.joints
        if not joint.is_ball and (joint.actuated or joint.is_limited or not coupled.isdisjoint(joint.coordinate_names))
        for name in joint.coordinate_names
    )


def rest_values(mechanism: Mechanism, tip: str = "") -> dict[str, float]:
    """Return the rest values [rad or m] of coordinates that can be drawn."""
    drawable, limb = drawable_coordinates(mechanism), _limb(mechanism, tip) if tip else None
    return {
        name: float(rest)
        for joint in mechanism.joints
        if limb is None or joint.name in limb
        for name, rest in zip(joint.coordinate_names, joint.rest, strict=True)
        if name in drawable
    }


def _limb(mechanism: Mechanism, tip: str) -> set[str]:
    """Return the names of the joints from a frame up to the body where several limbs meet."""
    above: dict[str, Joint] = {}
    for joint in mechanism.joints:
        above.setdefault(joint.child, joint)
    branches: dict[str, int] = {}
    for joint in above.values():
        branches[joint.parent] = branches.get(joint.parent, 0) + 1
    found, body = set(), mechanism.frame(tip).body
    while body in above and above[body].name not in found:
        found.add(above[body].name)
        body = above[body].parent
        if branches.get(body, 0) > 1 and found:
            break
    return found
