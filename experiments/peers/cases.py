"""Targets that all libraries follow alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import cos, pi, sin

import numpy as np

from robik.bench.clips import arm_clip, samples, smoothstep, turn
from robik.bench.walking import walk_clip
from robik.clips.clip import TargetClip, Track
from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose
from robik.mechanism.orientations import quaternions
from robik.objectives.look_at import LookAt
from robik.objectives.relative_frame import RelativeFrame
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights
from robik.robots import load

FPS = 60.0
PULL = 1e-7  # towards the previous state: RobIK's state_weight, the others' damping
SWING = 0.015  # of the CoM's target, to either side [m]


@dataclass(frozen=True)
class Case:
    """A robot, a clip and how to follow it."""

    name: str
    mechanism: Mechanism
    clip: TargetClip
    settings: Settings


def cases() -> tuple[Case, ...]:
    """Return all of them."""
    arm, ur10, walker, stewart = load("arm7"), load("ur10"), load("walker"), stewart_platform()
    feet = Weights((10.0,) * 3, (100.0,) * 3)
    loose = Settings(state_weight=PULL, joint_limits=False, length=1.0)
    low, full = (Weights((w,) * 3, (w,) * 3) for w in (0.01, 1.0))
    looking = replace(loose, targets={"tool": Weights((1.0,) * 3, (0.0,) * 3)})
    compromise, stretched = (
        Settings(
            targets={"pelvis": pelvis, "foot_l": feet, "foot_r": feet},
            com_weight=(10.0, 10.0, 0.0),
            state_weight=PULL,
            joint_limits=False,
            length=1.0,
        )
        for pelvis in (low, full)
    )
    return (
        Case("7-DoF arm", arm, arm_clip(arm, FPS), loose),
        Case("UR10", ur10, arm_clip(ur10, FPS), loose),
        Case("Stewart platform", stewart, platform_clip(stewart), loose),
        Case("walker, three frames", walker, walk_clip(walker, FPS, balanced=False), loose),
        Case("walker, CoM compromise", walker, compromise_clip(walker), compromise),
        Case("walker, CoM compromise, legs stretched", walker, compromise_clip(walker, lift=0.03), stretched),
        Case("walker, pelvis relative to a foot", walker, relative_clip(walker), loose),
        Case("7-DoF arm looks at a point", arm, looking_clip(arm), looking),
    )


def relative_clip(walker: Mechanism, seconds: float = 6.0) -> TargetClip:
    """Return feet that glide sideways and a pelvis that sways as the left one sees it."""
    t = samples(FPS, seconds)
    rise = smoothstep(t)[:, None]
    glide = rise * np.stack([0 * t, 0.1 * np.sin(1.5 * t), 0 * t], axis=1)
    poses = {name: walker.rest_pose(name) for name in ("foot_l", "foot_r")}
    tracks = {
        name: Track(np.array(pose.position) + glide, np.tile(pose.quaternion, (len(t), 1)))
        for name, pose in poses.items()
    }
    seen = poses["foot_l"].inverse() @ walker.rest_pose("pelvis")
    sway = rise * np.stack([0.01 * np.sin(2 * t), 0.015 * np.sin(2.6 * t), -0.01 * np.sin(1.9 * t) ** 2], axis=1)
    pelvis = RelativeFrame("pelvis", "foot_l", np.array(seen.position) + sway, np.tile(seen.quaternion, (len(t), 1)))
    return TargetClip(t, tracks, objectives=(pelvis,))


def looking_clip(arm: Mechanism, seconds: float = 6.0) -> TargetClip:
    """Return a path of the tool, whose orientation is free but for its z axis, which looks at a point that moves."""
    t = samples(FPS, seconds)
    rise, rest = smoothstep(t)[:, None], arm.rest_pose("tool")
    path = rise * np.stack([0.08 * np.sin(1.7 * t), 0.1 * np.sin(2 * t), 0.06 * np.sin(2.6 * t)], axis=1)
    point = np.array(rest.position) + rest.matrix[:, 2] * 0.8
    way = rise * np.stack([0.1 * np.sin(1.3 * t), 0.15 * np.sin(1.1 * t), 0.1 * np.sin(2.1 * t)], axis=1)
    tool = Track(np.array(rest.position) + path, np.tile(rest.quaternion, (len(t), 1)))
    return TargetClip(t, {"tool": tool}, objectives=(LookAt("tool", point + way, axis=(0.0, 0.0, 1.0)),))


def platform_clip(stewart: Mechanism, seconds: float = 6.0) -> TargetClip:
    """Return the platform heaves, sways, rolls and yaws within its legs' reach."""
    t = samples(FPS, seconds)
    rise, rest = smoothstep(t), stewart.rest_pose("platform")
    move = rise[:, None] * np.stack([0.15 * np.sin(2.0 * t), 0.15 * np.sin(1.7 * t), 0.10 * np.sin(2.6 * t)], axis=1)
    turned = (
        turn(rise * 0.25 * np.sin(1.9 * t), 2)
        * turn(rise * 0.2 * np.sin(1.3 * t), 1)
        * turn(rise * 0.2 * np.sin(2.3 * t), 0)
    )
    return TargetClip(t, {"platform": Track(np.array(rest.position) + move, quaternions(turned))})


def compromise_clip(walker: Mechanism, lift: float = 0.0, seconds: float = 6.0) -> TargetClip:
    """Return a clip of which not everything can be reached.

    The CoM swings sideways while feet and pelvis stay, or the pelvis rises beyond what the legs reach.
    """
    t = samples(FPS, seconds)
    com = sum(body.mass * body.rest_com for body in walker.bodies) / walker.mass
    way = np.zeros((len(t), 3))
    way[:, 1] = SWING * np.sin(2 * pi * t / 2.0)
    still = {name: walker.rest_pose(name) for name in ("foot_l", "foot_r", "pelvis")}
    tracks = {
        name: Track(np.tile(pose.position, (len(t), 1)), np.tile(pose.quaternion, (len(t), 1)))
        for name, pose in still.items()
    }
    pelvis = tracks["pelvis"]
    assert pelvis.position is not None
    tracks["pelvis"] = replace(pelvis, position=pelvis.position + lift * smoothstep(t)[:, None] * [0.0, 0.0, 1.0])
    return TargetClip(t, tracks, com=com + way)


def stewart_platform() -> Mechanism:
    """Six legs of a universal joint, a slide and a ball each, 1 m high."""
    bodies, joints = [Body("plate", 1.0, com=(0.0, 0.0, 1.0))], []
    for i in range(6):
        foot, head = (
            (i // 2) * 2 * pi / 3 + (0.2 if i % 2 else -0.2),
            ((i + 1) // 2) * 2 * pi / 3 - pi / 3 + (-0.2 if i % 2 else 0.2),
        )
        low, high = np.array([cos(foot), sin(foot), 0.0]), np.array([0.6 * cos(head), 0.6 * sin(head), 1.0])
        way = (high - low) / np.linalg.norm(high - low)
        bodies += [
            Body(f"cylinder{i}", 1.0, com=tuple(low + 0.2 * way)),
            Body(f"rod{i}", 1.0, com=tuple(high - 0.2 * way)),
        ]
        across = np.cross(way, [1.0, 0.0, 0.0])
        joints += [
            Joint(
                f"foot{i}",
                "universal",
                WORLD,
                f"cylinder{i}",
                position=tuple(low),
                axis=(1.0, 0.0, 0.0),
                axis2=tuple(across),
            ),
            Joint(
                f"leg{i}", "prismatic", f"cylinder{i}", f"rod{i}", position=tuple(low), axis=tuple(way), actuated=True
            ),
            Joint(f"head{i}", "spherical", f"rod{i}", "plate", position=tuple(high)),
        ]
    return Mechanism(
        "stewart", tuple(bodies), tuple(joints), frames=(Frame("platform", "plate", Pose((0.0, 0.0, 1.0))),)
    )
