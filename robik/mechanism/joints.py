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
        about: tooltip.
    """

    name: str
    motions: tuple[str, ...] | None
    about: str


# Blender's files keep a joint's type by its place in this table: a new row goes to the end.
JOINT_TYPES: dict[str, JointType] = {
    row.name: row
    for row in (
        JointType("fixed", (), "Makes two bodies one"),
        JointType("revolute", ("rx",), "A hinge: turns about the axis"),
        JointType("prismatic", ("tx",), "A slide: runs along the axis"),
        JointType("cylindrical", ("tx", "rx"), "Turns about the axis and runs along it, as a rod in a bushing"),
        JointType("universal", ("rx", "ry"), "Turns about the axis and about one across it, as a cardan joint"),
        JointType("spherical", ("rx", "ry", "rz"), "A ball: turns every way"),
        JointType("planar", ("ty", "tz", "rx"), "Runs in the plane across the axis, and turns about it"),
        JointType("cartesian", ("tx", "ty", "tz"), "Runs every way, and does not turn"),
        JointType("free", MOTIONS, "Ties nothing; lets a robot float"),
        JointType("general", None, "Leaves the motions free that it lists"),
    )
}
