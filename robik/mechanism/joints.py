"""The joint types: each one's free motions, and from these each one's constraint rows.

A joint ties a frame on its parent to a frame on its child. A type is a row of a table: which of the six elementary
motions between the two frames are free. Slides run along axes fixed in the parent; then come the turns: one (a hinge),
two (a universal joint: the first axis fixed in the parent, the second in the child) or all three (a ball). The joint
frame's x axis is the joint's `axis`, its y axis the joint's `axis2`.
"""

from __future__ import annotations

from dataclasses import dataclass

SLIDES = ("tx", "ty", "tz")
TURNS = ("rx", "ry", "rz")
MOTIONS = SLIDES + TURNS


@dataclass(frozen=True)
class JointType:
    """A row of the table.

    Attributes:
        name: as files name it.
        motions: the free motions, slides first, in the order of `MOTIONS`; None where each joint of the type lists its
            own.
    """

    name: str
    motions: tuple[str, ...] | None


JOINT_TYPES: dict[str, JointType] = {
    row.name: row
    for row in (
        JointType("fixed", ()),
        JointType("revolute", ("rx",)),
        JointType("prismatic", ("tx",)),
        JointType("cylindrical", ("tx", "rx")),
        JointType("universal", ("rx", "ry")),
        JointType("spherical", ("rx", "ry", "rz")),
        JointType("planar", ("ty", "tz", "rx")),
        JointType("cartesian", ("tx", "ty", "tz")),
        JointType("free", MOTIONS),
        JointType("general", None),
    )
}
