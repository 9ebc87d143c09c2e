"""Two links in a plane, the arm of the first lesson (Lee)."""

from __future__ import annotations

from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose

LINKS = (0.6, 0.4)  # m


def two_link_arm() -> Mechanism:
    """Hinges about z at the origin and at the elbow, straight along x at rest."""
    upper, lower = LINKS
    bodies = (
        Body("upper", 1.0, com=(upper / 2, 0.0, 0.0)),
        Body("lower", 1.0, com=(lower / 2, 0.0, 0.0), pose=Pose((upper, 0.0, 0.0))),
    )
    joints = (
        Joint("shoulder", "revolute", WORLD, "upper", position=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), actuated=True),
        Joint("elbow", "revolute", "upper", "lower", position=(upper, 0.0, 0.0), axis=(0.0, 0.0, 1.0), actuated=True),
    )
    return Mechanism("two_link", bodies, joints, frames=(Frame("tip", "lower", Pose((lower, 0.0, 0.0))),))
