"""A diagnosis of a robot in the scene, kept with it and its joints until something is built again."""

from __future__ import annotations

from bpy.types import Object

from ...robik.kinematics.diagnosis import diagnose
from .parts import parts
from .reading import read_moving_parts


def diagnose_robot(root: Object) -> tuple[str, ...]:
    """Return the faults of a robot in sentences; each joint keeps its own."""
    found = diagnose(read_moving_parts(root))
    root.robik.robot.diagnosis = "\n".join(found.sentences)
    ranked = (
        ("ASKEW", found.askew),
        ("STUCK", found.stuck),
        ("NEEDLESS", found.needless),
        ("REDUNDANT", found.redundant),
    )
    for joint in parts(root)["JOINT"]:
        joint.robik.joint.finding = next((finding for finding, names in ranked if joint.robik.label in names), "NONE")
    return found.sentences


def forget_diagnosis(root: Object) -> None:
    """Clear the diagnosis, which no longer holds."""
    root.robik.robot.diagnosis = ""
    for joint in parts(root)["JOINT"]:
        if joint.robik.joint.finding != "NONE":
            joint.robik.joint.finding = "NONE"
