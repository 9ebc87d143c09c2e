"""Frames in contact are held exactly, at the cost of neither loops nor limits nor speeds; what cannot be is said."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik import cli, robots
from robik.bench.walking import walk_clip
from robik.clips.clip import TargetClip, Track, load_clip, save_clip
from robik.errors import ClipError
from robik.kinematics.frames import frame_poses
from robik.mechanism.model import Mechanism
from robik.motions import Motion
from robik.objectives.settings import Settings
from robik.retargeting.retarget import retarget

EXACT = 1e-9  # m, and of an axis' direction
FEET = "foot_l", "foot_r"
BALANCED = Settings(com_weight=(1, 1, 0), state_weight=None)


@pytest.fixture(scope="module")
def walker() -> Mechanism:
    return robots.load("walker")


def gaps(robot: Mechanism, clip: TargetClip, motion: Motion, name: str) -> np.ndarray:
    """How far a frame in contact is from its target at touchdown (T,), in metres or axes; NaN in the air."""
    track, found = clip.tracks[name], np.full(len(clip.times), np.nan)
    assert motion.position is not None and motion.quaternion is not None
    assert track.contact is not None and track.position is not None and track.quaternion is not None
    x, R = frame_poses(robot, name, motion.position, motion.quaternion)
    touchdown = 0
    for k in np.flatnonzero(track.contact).tolist():
        if k == 0 or not track.contact[k - 1]:
            touchdown = k
        held = Rotation.from_quat(track.quaternion[touchdown][[1, 2, 3, 0]]).as_matrix()
        found[k] = max(np.linalg.norm(x[k] - track.position[touchdown]), np.abs(R[k] - held).max())
    return found


def faster(clip: TargetClip, by: float) -> TargetClip:
    return replace(clip, times=clip.times / by)


def test_feet_stay_wherever_the_robot_looks(walker: Mechanism) -> None:
    """Both feet of a double stance, one of which is a cut, whose place may be turned any way from the rest pose."""
    clip, yaw = walk_clip(walker, 60.0, True), Rotation.from_euler("z", 170.0, degrees=True)

    def turned(track: Track) -> Track:
        assert track.position is not None and track.quaternion is not None
        turns = (yaw * Rotation.from_quat(track.quaternion[:, [1, 2, 3, 0]])).as_quat()[:, [3, 0, 1, 2]]
        return replace(track, position=yaw.apply(track.position), quaternion=turns)

    assert clip.com is not None
    clip = replace(clip, tracks={name: turned(track) for name, track in clip.tracks.items()}, com=yaw.apply(clip.com))
    motion = retarget(walker, clip, BALANCED)
    assert motion.report is not None and motion.report.quality.contact_off_mm is not None
    assert motion.report.quality.contact_off_mm < 1e-6
    for name in FEET:
        assert np.nanmax(gaps(walker, clip, motion, name)) < EXACT


def test_standing_feet_stay_where_they_are(walker: Mechanism) -> None:
    clip = walk_clip(walker, 60.0, True)
    motion = retarget(walker, clip, BALANCED)
    assert motion.report is not None
    for name in FEET:
        assert np.nanmax(gaps(walker, clip, motion, name)) < EXACT
    assert motion.report.residual.max() < 1e-10
    quality = motion.report.quality
    assert quality.slide_mm_s is not None and quality.slide_mm_s < 1e-4
    assert quality.contact_off_mm is not None and quality.contact_off_mm < 1e-6
    soft = retarget(walker, clip, replace(BALANCED, contacts="ignore"))
    assert np.nanmax(gaps(walker, clip, soft, "foot_l")) > 1e-4  # soft feet and the balance compete
    assert soft.report is not None and soft.report.quality.slide_mm_s is not None
    assert soft.report.quality.slide_mm_s > 0.1


def test_speeds_are_kept_and_swings_land_where_they_stand(walker: Mechanism) -> None:
    clip = faster(walk_clip(walker, 15.0, True), 8.0)
    motion = retarget(walker, clip, replace(BALANCED, enforce_velocity=True))
    limits = np.array([joint.velocity_limit for joint in walker.actuated for _ in joint.motions])
    speeds = np.abs(np.diff(motion.values, axis=0)) / np.diff(clip.times)[:, None]
    assert (speeds <= limits * (1 + 1e-9)).all()
    for name in FEET:
        assert np.nanmax(gaps(walker, clip, motion, name)) < EXACT


def test_a_swing_joins_its_stands_without_a_jump(walker: Mechanism) -> None:
    clip = walk_clip(walker, 120.0, True)
    held, soft = retarget(walker, clip, BALANCED), retarget(walker, clip, replace(BALANCED, contacts="ignore"))
    largest = [np.abs(np.diff(motion.values, axis=0)).max() for motion in (held, soft)]
    assert largest[0] < 1.05 * largest[1]


def random_clip(walker: Mechanism, seed: int) -> TargetClip:
    """Targets that hop about, and contacts that come and go anyhow."""
    rng, frames = np.random.default_rng(seed), 100
    tracks = {}
    for name in (*FEET, "pelvis"):
        hops = np.cumsum(rng.random(frames) < 0.15)
        shifts, turns = rng.normal(0.0, 0.06, (frames, 3))[hops], rng.normal(0.0, 0.3, (frames, 3))[hops]
        rest = walker.rest_pose(name)
        quaternion = (Rotation.from_rotvec(turns) * Rotation.from_matrix(rest.matrix)).as_quat()[:, [3, 0, 1, 2]]
        contact = (np.cumsum(rng.random(frames) < 0.1) + rng.integers(2)) % 2 == 0 if name in FEET else None
        tracks[name] = Track(np.array(rest.position) + shifts, quaternion, contact=contact)
    return TargetClip(np.arange(frames) / 60.0, tracks)


@pytest.mark.parametrize("seed", range(6))
def test_hostile_contacts_cost_neither_loops_nor_limits_nor_speeds(walker: Mechanism, seed: int) -> None:
    clip = random_clip(walker, seed)
    motion = retarget(walker, clip, Settings(state_weight=None, enforce_velocity=seed % 2 == 1))
    assert motion.report is not None
    assert motion.report.residual.max() < EXACT
    limits = np.array([limit for joint in walker.actuated for limit in joint.limits])
    assert (motion.values > limits[:, 0] - 1e-9).all() and (motion.values < limits[:, 1] + 1e-9).all()
    if seed % 2:
        speeds = np.array([joint.velocity_limit for joint in walker.actuated for _ in joint.motions])
        assert (np.abs(np.diff(motion.values, axis=0)) * 60.0 <= speeds * (1 + 1e-9)).all()
    why = dict(motion.report.short)
    for name in FEET:
        off = gaps(walker, clip, motion, name)
        held = off < EXACT
        assert held[np.isfinite(off)].any()
        for k in np.flatnonzero(np.isfinite(off) & ~held):  # what could not be held is small, or said
            assert off[k] < 1e-3 or f"contact of {name} late by" in why[int(k)]


def test_a_stride_beyond_reach_gives_way_and_is_reported(walker: Mechanism) -> None:
    clip = walk_clip(walker, 30.0, True)
    tracks = dict(clip.tracks)
    for name in FEET:
        place = np.array(clip.tracks[name].position)
        place[:, 0] += np.where(place[:, 0] > place[0, 0] + 0.03, 0.4, 0.0)
        tracks[name] = replace(clip.tracks[name], position=place)
    motion = retarget(walker, replace(clip, tracks=tracks), BALANCED)
    assert motion.report is not None and motion.report.residual.max() < 1e-10
    assert any("late by" in why and "mm" in why for _, why in motion.report.short)
    assert motion.report.quality.contact_off_mm is not None and motion.report.quality.contact_off_mm > 10.0


def test_a_hand_holds_a_rail_by_its_position_alone() -> None:
    arm = robots.load("arm7")
    name = arm.frames[-1].name
    rest = np.array(arm.rest_pose(name).position)
    t = np.arange(60) / 30.0
    away = 0.05 * np.stack([np.sin(3 * t), np.cos(3 * t) - 1, 0 * t], axis=1)
    contact = (t > 0.5) & (t < 1.5)
    clip = TargetClip(t, {name: Track(rest + away, contact=contact)})
    motion = retarget(arm, clip, Settings(state_weight=None))
    assert motion.position is not None and motion.quaternion is not None
    x, _ = frame_poses(arm, name, motion.position, motion.quaternion)
    held = np.flatnonzero(contact)
    assert np.abs(x[held] - x[held[0]]).max() < EXACT
    assert np.linalg.norm(x[held[0]] - (rest + away)[held[0]]) < EXACT
    assert np.abs(x - rest - away)[(t < 0.5) | (t > 1.85)].max() < 1e-6  # it fades back to its target in 0.3 s


def test_feet_go_along_with_a_platform_that_moves_and_turns(walker: Mechanism, tmp_path: Path) -> None:
    t = np.arange(90) / 60.0
    ground = np.stack([0.3 * np.sin(t), 0.1 * t, 0.05 * np.sin(3 * t)], axis=1)
    tilt = Rotation.from_rotvec(np.stack([0.05 * np.sin(2 * t), 0 * t, 0.4 * t], axis=1))
    tracks = {}
    for name in (*FEET, "pelvis"):
        rest = walker.rest_pose(name)
        turns = np.tile(rest.quaternion, (len(t), 1))
        stands = np.ones(len(t), bool) if name in FEET else None
        moves = tilt.as_quat()[:, [3, 0, 1, 2]]
        place = np.tile(rest.position, (len(t), 1))
        if name == "pelvis":
            place, turns = place + ground, (tilt * Rotation.from_matrix(rest.matrix)).as_quat()[:, [3, 0, 1, 2]]
            tracks[name] = Track(place, turns)
        else:
            tracks[name] = Track(place, turns, stands, ground, moves)
    save_clip(TargetClip(t, tracks), tmp_path / "platform.npz")
    clip = load_clip(tmp_path / "platform.npz")
    motion = retarget(walker, clip, Settings(state_weight=None, enforce_velocity=True))
    assert motion.position is not None and motion.quaternion is not None and motion.report is not None
    for name in FEET:
        x, R = frame_poses(walker, name, motion.position, motion.quaternion)
        rest = walker.rest_pose(name)
        on_it = tilt.inv().apply(x - ground)
        assert np.abs(on_it - rest.position).max() < EXACT
        assert np.abs(tilt.inv().as_matrix() @ R - rest.matrix).max() < EXACT
    assert motion.report.residual.max() < 1e-10
    assert motion.report.quality.slide_mm_s == pytest.approx(0.0, abs=1e-5)


def test_the_command_holds_or_ignores_contacts(walker: Mechanism, tmp_path: Path) -> None:
    save_clip(walk_clip(walker, 30.0, True), tmp_path / "walk.npz")
    found = {}
    for contacts in ("hold", "ignore"):
        settings = tmp_path / f"{contacts}.json"
        settings.write_text(json.dumps({"contacts": contacts, "com_weight": [1, 1, 0]}))
        out, report = str(tmp_path / "walk.csv"), str(tmp_path / f"{contacts}-report.json")
        clip = str(tmp_path / "walk.npz")
        assert cli.main(["solve", "walker", clip, "--settings", str(settings), "-o", out, "--report", report]) == 0
        found[contacts] = json.loads(Path(report).read_text())["quality"]
    assert found["hold"]["slide_mm_s"] < 1e-4 < found["ignore"]["slide_mm_s"]
    assert found["hold"]["contact_off_mm"] < 1e-6 < found["ignore"]["contact_off_mm"]


def test_what_cannot_be_held_is_said_in_a_sentence(walker: Mechanism) -> None:
    with pytest.raises(ClipError, match="contacts must be hold or ignore, not 'glue'"):
        Settings(contacts="glue")
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (3, 1))
    clip = TargetClip(np.arange(3) / 30, {"foot_l": Track(None, turns, contact=np.ones(3, bool))})
    with pytest.raises(ClipError, match="'foot_l' is in contact, but has no position to be held at"):
        retarget(walker, clip)
    retarget(walker, clip, Settings(contacts="ignore"))
