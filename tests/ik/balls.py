"""Robots with actuated balls, in the open and in a loop, and targets that lead these beyond their limits."""

from __future__ import annotations

from math import inf

import numpy as np
from scipy.spatial.transform import Rotation

from robik.clips.clip import Track
from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose
from robik.mechanism.constraints import joint_matrices
from robik.motions.motion import Motion


def arm(cone: float = inf, turn_limit: float = inf, speed: float = inf) -> Mechanism:
    """A ball for a shoulder, a hinge for an elbow, a ball for a wrist."""
    bodies = (
        Body("upper", 1.0, com=(0.15, 0.0, 0.0)),
        Body("fore", 0.8, com=(0.12, 0.0, 0.0), pose=Pose((0.3, 0.0, 0.0))),
        Body("hand", 0.3, com=(0.05, 0.0, 0.0), pose=Pose((0.55, 0.0, 0.0))),
    )
    limits = {"cone": cone, "turn_limit": turn_limit, "velocity_limit": speed}
    joints = (
        Joint("shoulder", "spherical", WORLD, "upper", actuated=True, **limits),
        Joint(
            "elbow", "revolute", "upper", "fore", position=(0.3, 0.0, 0.0), axis=(0.0, 1.0, 0.0), actuated=True,
            limits=((-2.4, 0.1),), velocity_limit=speed,
        ),
        Joint("wrist", "spherical", "fore", "hand", position=(0.55, 0.0, 0.0), actuated=True, **limits),
    )  # fmt: skip
    return Mechanism("ball arm", bodies, joints, frames=(Frame("tip", "hand", Pose((0.1, 0.0, 0.0))),))


def flying(**joint: object) -> Mechanism:
    """A tool on one joint that slides and turns every way, with motors for all of it."""
    bodies = (Body("base", 1.0), Body("tool", 1.0))
    joints = (
        Joint("fixed", "fixed", WORLD, "base"),
        Joint("six", parent="base", child="tool", position=(0.0, 0.0, 0.5), actuated=True, **joint),
    )
    return Mechanism("flying", bodies, joints, frames=(Frame("tip", "tool"),))


def tripod(cone: float = inf, speed: float = inf) -> Mechanism:
    """A plate on three telescopic legs with balls at both ends, and an actuated ball that carries a rod on it."""
    angles = 2 * np.pi * np.arange(3) / 3
    bodies, joints = [Body("plate", 1.0, pose=Pose((0.0, 0.0, 0.5)))], []
    for k, angle in enumerate(angles):
        foot = np.array([0.3 * np.cos(angle), 0.3 * np.sin(angle), 0.0])
        top = np.array([0.2 * np.cos(angle), 0.2 * np.sin(angle), 0.5])
        way = tuple(((top - foot) / np.linalg.norm(top - foot)).tolist())
        side = (-np.sin(angle), np.cos(angle), 0.0)
        bodies += [Body(f"lower{k}", 0.2, pose=Pose(tuple(foot))), Body(f"upper{k}", 0.2, pose=Pose(tuple(top)))]
        joints += [
            Joint(f"hip{k}", "revolute", WORLD, f"lower{k}", position=tuple(foot), axis=side),
            Joint(
                f"leg{k}", "prismatic", f"lower{k}", f"upper{k}", position=tuple(foot), axis=way, actuated=True,
                limits=((-0.15, 0.15),), velocity_limit=speed,
            ),
            Joint(f"top{k}", "spherical", f"upper{k}", "plate", position=tuple(top), axis=way, cone=cone),
        ]  # fmt: skip
    bodies.append(Body("rod", 0.3, pose=Pose((0.0, 0.0, 0.5))))
    joints.append(
        Joint(
            "neck", "spherical", "plate", "rod", position=(0.0, 0.0, 0.5), axis=(0.0, 0.0, 1.0), actuated=True,
            cone=cone, velocity_limit=speed,
        )
    )  # fmt: skip
    return Mechanism("tripod", tuple(bodies), tuple(joints), frames=(Frame("tip", "rod", Pose((0.0, 0.0, 0.2))),))


def hostile(mechanism: Mechanism, frames: int, seed: int, size: float, turn: float) -> Track:
    """A track that jumps from place to place around where the tip rests, and waits there."""
    rng = np.random.default_rng(seed)
    rest = mechanism.rest_pose("tip")
    stay = 15
    places = np.repeat(rng.normal(size=(frames // stay + 1, 3)), stay, axis=0)[:frames] * size
    turns = np.repeat(rng.normal(size=(frames // stay + 1, 3)), stay, axis=0)[:frames] * turn
    quaternion = Rotation.from_rotvec(turns).as_quat()[:, [3, 0, 1, 2]]
    return Track(np.array(rest.position) + places, quaternion)


def relative_turns(mechanism: Mechanism, motion: Motion, name: str) -> Rotation:
    """Orientations of a ball's child side, seen from its parent side, read off the bodies' poses."""
    joint = next(joint for joint in mechanism.joints if joint.name == name)
    parent_R, _, child_R = joint_matrices(joint)

    def side(body: str, local: np.ndarray) -> Rotation:
        if body == WORLD:
            return Rotation.from_matrix(np.tile(local, (len(motion.times), 1, 1)))
        index = motion.bodies.index(body)
        now = Rotation.from_quat(motion.quaternion[:, index][:, [1, 2, 3, 0]])
        rest = Rotation.from_matrix(mechanism.rest_pose(body).matrix)
        return now * rest.inv() * Rotation.from_matrix(local)

    return side(joint.parent, parent_R).inv() * side(joint.child, child_R)


def tilts(turns: Rotation) -> np.ndarray:
    """Angles (T,) between the x axes of both sides [rad]."""
    x = turns.apply([1.0, 0.0, 0.0])
    return np.arctan2(np.hypot(x[:, 1], x[:, 2]), x[:, 0])


def biped(cone: float = inf, speed: float = inf) -> Mechanism:
    """A floating body on two telescopic legs with driven balls for hips and ankles."""
    bodies, joints, frames = [Body("pelvis", 4.0, pose=Pose((0.0, 0.0, 0.6)))], [], []
    down, limits = (0.0, 0.0, -1.0), {"cone": cone, "velocity_limit": speed}
    for side, y in (("l", 0.1), ("r", -0.1)):
        bodies += [
            Body(f"thigh_{side}", 0.5, com=(0.0, 0.0, -0.1), pose=Pose((0.0, y, 0.6))),
            Body(f"shin_{side}", 0.5, com=(0.0, 0.0, 0.1), pose=Pose((0.0, y, 0.05))),
            Body(f"sole_{side}", 0.2, pose=Pose((0.0, y, 0.05))),
        ]
        joints += [
            Joint(
                f"hip_{side}", "spherical", "pelvis", f"thigh_{side}", position=(0.0, y, 0.6), axis=down,
                actuated=True, **limits,
            ),
            Joint(
                f"leg_{side}", "prismatic", f"thigh_{side}", f"shin_{side}", position=(0.0, y, 0.3), axis=down,
                actuated=True, limits=((-0.3, 0.1),), velocity_limit=speed,
            ),
            Joint(
                f"ankle_{side}", "spherical", f"shin_{side}", f"sole_{side}", position=(0.0, y, 0.05), axis=down,
                actuated=True, **limits,
            ),
        ]  # fmt: skip
        corners = tuple((x, z, 0.0) for x, z in ((0.1, 0.04), (-0.1, 0.04), (-0.1, -0.04), (0.1, -0.04)))
        frames.append(Frame(f"foot_{side}", f"sole_{side}", Pose((0.0, 0.0, -0.05)), sole=corners))
    return Mechanism("ball biped", tuple(bodies), tuple(joints), frames=(*frames, Frame("head", "pelvis")))
