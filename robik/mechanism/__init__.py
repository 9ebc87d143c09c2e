"""What a robot is."""

from robik.mechanism.joints import JOINT_TYPES, JointType
from robik.mechanism.model import WORLD, Body, Coupling, Frame, Joint, Mechanism
from robik.mechanism.pose import Pose
from robik.mechanism.visual import Visual

__all__ = ["JOINT_TYPES", "WORLD", "Body", "Coupling", "Frame", "Joint", "JointType", "Mechanism", "Pose", "Visual"]
