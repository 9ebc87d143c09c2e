"""Contacts of every kind under hostile targets: loops and contacts are closed together, and what is late is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik import robots
from robik.clips.clip import TargetClip, Track
from robik.feet.held_contacts import held_tracks
from robik.formats import import_robot
from robik.mechanism import Frame, Mechanism, Pose
from robik.objectives.settings import Settings
from robik.report.quality import CONTACT_MET, CONTACT_TURNED, contact_gaps
from robik.retargeting.retarget import retarget

EXACT = 1e-9  # m or rad
FRAMES = 100  # of a clip
G1_SOLE = ((-0.05, -0.025, -0.03), (0.12, -0.03, -0.03), (0.12, 0.03, -0.03), (-0.05, 0.025, -0.03))


def on_soles(shared: Path) -> tuple[Mechanism, tuple[str, ...]]:
    return robots.load("walker"), ("foot_l", "foot_r")


def on_edges(shared: Path) -> tuple[Mechanism, tuple[str, ...]]:
    """The walker on the middle lines of its soles, about which its feet may turn."""
    walker = robots.load("walker")

    def edge(frame: Frame) -> Frame:
        points = np.array(frame.sole)
        low, high = points.min(axis=0), points.max(axis=0)
        middle = 0.5 * (low + high)
        line = [tuple(float(v) for v in (x, middle[1], middle[2])) for x in (low[0], middle[0], high[0])]
        return replace(frame, sole=tuple(line))

    frames = tuple(edge(frame) if frame.is_foot else frame for frame in walker.frames)
    return walker.with_changes(frames=frames), ("foot_l", "foot_r")


def on_points(shared: Path) -> tuple[Mechanism, tuple[str, ...]]:
    """The walker on frames without soles, which their targets hold by position alone."""
    walker = robots.load("walker")
    frames = tuple(replace(frame, sole=()) for frame in walker.frames)
    return walker.with_changes(frames=frames), ("foot_l", "foot_r")


def on_soles_and_hands(shared: Path) -> tuple[Mechanism, tuple[str, ...]]:
    """G1 on its feet and, by position, on its hands."""
    g1 = import_robot(shared / "unitree_g1/g1_29dof.xml").mechanism
    frames = [Frame(f"foot_{s[0]}", f"{s}_ankle_roll_link", Pose(), G1_SOLE) for s in ("left", "right")]
    frames += [Frame(f"hand_{s[0]}", f"{s}_wrist_yaw_link") for s in ("left", "right")]
    return g1.with_changes(frames=(*g1.frames, *frames)), ("foot_l", "foot_r", "hand_l", "hand_r")


def hostile(robot: Mechanism, standing: tuple[str, ...], seed: int, turns: bool) -> TargetClip:
    """Targets that hop about, and contacts that come and go anyhow."""
    rng = np.random.default_rng(seed)
    tracks = {}
    for name in (*standing, "pelvis"):
        hops = np.cumsum(rng.random(FRAMES) < 0.15)
        shifts = rng.normal(0.0, 0.12 * robot.extent, (FRAMES, 3))[hops]
        angles = rng.normal(0.0, 0.3, (FRAMES, 3))[hops]
        rest = robot.rest_pose(name)
        quaternion = (Rotation.from_rotvec(angles) * Rotation.from_matrix(rest.matrix)).as_quat()[:, [3, 0, 1, 2]]
        comes = (np.cumsum(rng.random(FRAMES) < 0.1) + rng.integers(2)) % 2 == 0
        oriented = name == "pelvis" or (turns and not name.startswith("hand"))
        tracks[name] = Track(
            np.array(rest.position) + shifts,
            quaternion if oriented else None,
            contact=comes if name in standing else None,
        )
    return TargetClip(np.arange(FRAMES) / 60.0, tracks)


KINDS: dict[str, tuple[Callable[[Path], tuple[Mechanism, tuple[str, ...]]], bool, int]] = {
    "soles": (on_soles, True, 300),
    "edges": (on_edges, True, 250),
    "points": (on_points, False, 200),
    "soles and hands": (on_soles_and_hands, True, 250),
}


def check(robot: Mechanism, standing: tuple[str, ...], turns: bool, seed: int) -> np.ndarray:
    """Solve one clip; return how many contacts were held, slightly off, and late and said."""
    clip = hostile(robot, standing, seed, turns)
    motion = retarget(robot, clip, Settings(state_weight=None, enforce_velocity=seed % 2 == 1))
    assert motion.report is not None
    assert motion.report.residual.max() < EXACT
    limits = np.array([limit for joint in robot.actuated for limit in joint.limits])
    assert (motion.values > limits[:, 0] - EXACT).all() and (motion.values < limits[:, 1] + EXACT).all()
    why, counts = dict(motion.report.short), np.zeros(3, dtype=int)
    for name, track in held_tracks(clip).items():
        distance, angle = contact_gaps(robot, name, track, motion)
        for k in np.flatnonzero(track.contact.stands).tolist():
            if distance[k] < EXACT and angle[k] < EXACT:
                counts[0] += 1
            elif distance[k] > CONTACT_MET * robot.extent or angle[k] > CONTACT_TURNED:
                assert f"contact of {name} late by" in why[k]
                counts[2] += 1
            else:
                counts[1] += 1
    return counts


@pytest.mark.parametrize("kind", KINDS)
def test_contacts_of_every_kind(kind: str, shared_data: Path) -> None:
    make, turns, _ = KINDS[kind]
    robot, standing = make(shared_data)
    held, near, late = sum(check(robot, standing, turns, seed) for seed in range(2))
    assert held > 0 and near <= 0.02 * (held + near + late), (held, near, late)


@pytest.mark.long
def test_a_hundred_thousand_hostile_frames(shared_data: Path) -> None:
    assert sum(clips for _, _, clips in KINDS.values()) * FRAMES == 100_000
    for kind, (make, turns, clips) in KINDS.items():
        robot, standing = make(shared_data)
        held, near, late = sum(check(robot, standing, turns, seed) for seed in range(clips))
        print(kind, clips * FRAMES, "frames:", held, "contacts held,", near, "near,", late, "late and said")
        assert held > 20 * near, kind
