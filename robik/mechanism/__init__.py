"""Robots: bodies, joints, frames and couplings."""

from .joints import JOINT_TYPES, JointType
from .model import Mechanism
from .parts import WORLD, Body, Coupling, Frame, Joint
from .pose import Pose
from .resistance import Resistance
from .visual import Visual

__all__ = [
    "JOINT_TYPES",
    "WORLD",
    "Body",
    "Coupling",
    "Frame",
    "Joint",
    "JointType",
    "Mechanism",
    "Pose",
    "Resistance",
    "Visual",
]
