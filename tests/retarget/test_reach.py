"""Footholds out of reach, or that put legs into each other: moved before balance is planned, and told; others stay."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik import robots
from robik.bake.balancing import balanced
from robik.bake.passes import Passes
from robik.bake.settings import Balance
from robik.bench.walking import walk_clip
from robik.cli import main
from robik.clips.clip import TargetClip, Track
from robik.collision.apart import solved_apart, walls_of
from robik.collision.files import told_collisions
from robik.collision.measure import measure_penetration
from robik.feet.pinning import pin_feet
from robik.mechanism.model import Mechanism
from robik.motions.results import report_summary
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights
from robik.report.shortfall import beyond_the_robot
from robik.retargeting.retarget import Retargeting, retarget
from robik.steps import finish

TIMES = np.arange(181) / 60.0
SETTINGS = Settings(
    com_weight=(1.0, 1.0, 0.0), targets={"pelvis": Weights((0.0, 0.0, 1.0))}, contacts="hold", state_weight=None
)
BALANCE = Balance(mode="still")


@pytest.fixture(scope="module")
def walker() -> Mechanism:
    return robots.load("walker")


def stepping(walker: Mechanism, aside: tuple[float, float], yaw: float) -> TargetClip:
    """The right foot lifts at 1 s and stands at 2 s, so far from where it was [m] and so much turned [rad]."""
    share = np.clip(TIMES - 1.0, 0.0, 1.0)
    share = share * share * (3.0 - 2.0 * share)
    swings = (TIMES > 1.0) & (TIMES < 2.0)
    tracks = {}
    for name in ("pelvis", "foot_l", "foot_r"):
        rest, moves = walker.rest_pose(name), float(name == "foot_r")
        way = np.stack([aside[0] * share, aside[1] * share, 0.05 * np.sin(np.pi * share)], axis=1)
        turn = Rotation.from_euler("z", moves * yaw * share) * Rotation.from_quat(np.roll(rest.quaternion, -1))
        contact = None if name == "pelvis" else ~(swings & (moves > 0))
        tracks[name] = Track(np.array(rest.position) + moves * way, np.roll(turn.as_quat(), 1, axis=1), contact)
    return TargetClip(TIMES, tracks)


@pytest.mark.parametrize(
    ("aside", "yaw"),
    [((0.0, 0.0), -2.4), ((0.5, 0.0), 0.0), ((0.0, -0.5), 0.0), ((0.35, -0.3), -1.6), ((0.0, 0.5), 2.0)],
)
def test_a_foothold_out_of_reach_is_brought_into_reach(
    walker: Mechanism, aside: tuple[float, float], yaw: float
) -> None:
    clip = stepping(walker, aside, yaw)
    as_asked = retarget(walker, balanced(clip, walker, BALANCE), SETTINGS)
    made = balanced(clip, walker, BALANCE, SETTINGS)
    motion = retarget(walker, made, SETTINGS)
    assert as_asked.report is not None and motion.report is not None
    before, after = as_asked.report.quality, motion.report.quality
    assert before.contact_off_mm is not None and before.contact_off_mm > 10.0
    assert after.contact_off_mm is not None and after.contact_off_mm < 0.01 * before.contact_off_mm
    (moved,) = [item for item in made.moved if item.frame == "foot_r"]
    assert moved.start == pytest.approx(2.0, abs=0.02)
    assert moved.end == 3.0
    assert f"{1e3 * moved.moved:.3g} mm" in str(moved)
    assert report_summary(motion)["moved_footholds"][-1]["frame"] == "foot_r"
    assert "foot_r" not in {item.frame for item in made.part(0, 60).moved}
    assert moved.start - made.times[100] in {item.start for item in made.part(100, 181).moved}
    stands = made.tracks["foot_r"].contact
    position, asked = made.tracks["foot_r"].position, pin_feet(walker, clip).tracks["foot_r"].position
    assert stands is not None and position is not None and asked is not None
    assert position[stands, 2] == pytest.approx(asked[stands, 2], abs=1e-9), "it stays flat on the ground"
    assert np.abs(np.diff(position, axis=0)).max() < 0.05, "the swing leads there"


def test_footholds_within_reach_stay_to_the_last_bit(walker: Mechanism) -> None:
    clip = walk_clip(walker, 60.0, False)
    made, as_asked = balanced(clip, walker, BALANCE, SETTINGS), balanced(clip, walker, BALANCE)
    assert made.moved == ()
    for name, track in as_asked.tracks.items():
        assert (made.tracks[name].position == track.position).all()
        assert (made.tracks[name].quaternion == track.quaternion).all()


def test_a_foot_on_what_moves_and_a_hand_stay(walker: Mechanism) -> None:
    clip = stepping(walker, (0.5, 0.0), 0.0)
    foot = replace(clip.tracks["foot_r"], ground_position=np.zeros((len(TIMES), 3)))
    made = balanced(replace(clip, tracks={**clip.tracks, "foot_r": foot}), walker, BALANCE, SETTINGS)
    assert "foot_r" not in {item.frame for item in made.moved}
    assert (made.tracks["foot_r"].position == foot.position).all()


def test_a_clip_beyond_the_robot_is_said_in_a_sentence(walker: Mechanism) -> None:
    clip = walk_clip(walker, 60.0, False)
    assert beyond_the_robot(walker, retarget(walker, clip, SETTINGS)) == ""
    pelvis = clip.tracks["pelvis"]
    high = replace(pelvis, position=pelvis.position + np.array([0.0, 0.0, 0.3]))
    motion = retarget(walker, replace(clip, tracks={**clip.tracks, "pelvis": high}), SETTINGS)
    said = beyond_the_robot(walker, motion)
    assert said.startswith("robot 'walker' cannot do this clip as asked: at ")
    assert "pelvis is" in said and "% of the robot's size; at its limit: " in said


@pytest.mark.long
def test_a_recorded_dance_on_a_robot_without_ankle_roll(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its recorded feet are 52° apart, its hips turn by 49°: contacts were 329 mm off, hips 17 mm in each other."""
    robot, out = shared_data / "unitree_h1/h1.xml", tmp_path / "h1.csv"
    arguments = "--balance", "auto", "--pin-feet", "-o", str(out), "--report", str(tmp_path / "h1.json")
    main(["retarget", str(robot), str(shared_data / "bvh/05_20-mb.bvh"), *arguments])
    told = capsys.readouterr()
    apart = "puts left_hip_yaw_link and right_hip_yaw_link into each other"
    assert f"foothold of foot_l from 8.07 to 9.12 s is out of reach and {apart}: moved by " in told.out
    assert "cannot do this clip as asked" in told.err
    found = json.loads((tmp_path / "h1.json").read_text())
    assert found["quality"]["contact_off_mm"] < 5.0
    assert found["penetration"]["self_penetration_mm"] < 1.0


@pytest.mark.parametrize(("aside", "yaw"), [((0.0, 0.1), 0.0), ((0.05, 0.1), 0.3), ((0.0, 0.0), 1.2)])
def test_footholds_that_put_legs_into_each_other_are_moved_apart(
    walker: Mechanism, aside: tuple[float, float], yaw: float
) -> None:
    clip, walls = stepping(walker, aside, yaw), walls_of(walker, robots.path("walker"))
    told = told_collisions(walker, robots.path("walker"))
    depths, clips = [], []
    for apart in (None, walls):
        made = balanced(clip, walker, BALANCE, SETTINGS, apart)
        passes = Passes(lambda each: Retargeting(walker, each, SETTINGS))
        _, motion = finish(solved_apart(made, passes.solve, walls, passes.finish))
        depths.append(float(measure_penetration(walker, told.shapes, motion, apart=told.apart).depths.max(initial=0)))
        clips.append(made)
        assert motion.report is not None and motion.report.quality.contact_off_mm is not None
        assert motion.report.quality.contact_off_mm < 1e-5, "both feet are held where they are now"
    assert depths[0] > 5e-3 and depths[1] < 1e-3
    assert clips[0].moved == ()
    assert {item.frame for item in clips[1].moved} == {"foot_l", "foot_r"}
    for item in clips[1].moved:
        assert len(item.bodies) == 2 and f"puts {item.bodies[0]} and {item.bodies[1]} into each other" in str(item)
        assert item.as_data()["in_each_other"] == list(item.bodies)
        assert item.moved < 0.06, "by no more than it takes"


def test_legs_that_stay_apart_leave_footholds_to_the_last_bit(walker: Mechanism) -> None:
    clip = walk_clip(walker, 60.0, False)
    made = balanced(clip, walker, BALANCE, SETTINGS, walls_of(walker, robots.path("walker")))
    as_before = balanced(clip, walker, BALANCE, SETTINGS)
    assert made.moved == ()
    assert all((made.tracks[name].position == track.position).all() for name, track in as_before.tracks.items())
