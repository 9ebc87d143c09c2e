"""Bakes whose motors do not determine their poses, and those whose motors do.

Judges: MuJoCo with stiff servos and gravity up or down, a closure by Newton's method written here, and the closed form
of a five-bar (`tests/kinematics/five_bar.py`).
"""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import mujoco
import numpy as np
import pytest

from robik import TargetClip, Track, load, retarget, robots, save_clip
from robik.formats import save_robot
from robik.kinematics.forward import ForwardKinematics
from robik.kinematics.frames import frame_poses
from robik.mechanism import Mechanism
from robik.motions import Motion, report_summary
from robik.motions.hold import LEAST, Hold
from robik.objectives.settings import Settings
from robik.report.judging import judged
from robik.report.motor_hold import hold_along
from tests.kinematics import five_bar
from tests.shell import robik

RATE = 60.0
ANYWHERE = Settings(hold=0.0)  # what is told here, bakes stay away from by default (`test_kept_hold.py`)
LOOPED = ("dancer", "four_bar", "validation", "walker")
OF_OTHERS = (
    "5bar_linkage/robot.urdf", "robot_delta/robot.urdf", "talos_like/robot.urdf", "digit_like_2legs/robot.urdf",
    "stewart_sdf/model.sdf", "robotiq_2f85/2f85.xml", "iit_softfoot/softfoot.xml", "newton_usd/boxes_fourbar.usda",
    "dr_testmech/usd/dr_testmech.usda",
)  # fmt: skip


def bake(places: np.ndarray) -> tuple[Mechanism, Motion]:
    robot = five_bar.robot()
    clip = TargetClip(np.arange(len(places)) / RATE, {"hand": Track(position=places)})
    return robot, retarget(robot, clip, ANYWHERE)


def hold_of(motion: Motion) -> Hold:
    assert motion.report is not None and motion.report.hold is not None
    return motion.report.hold


def hands_by_newton(values: np.ndarray) -> np.ndarray:
    """Return where the motors bring the hand (T, 2): each time the forearms meet nearest to where they were."""
    rest = {side: five_bar._directions(*five_bar.REST, side)[0] for side in five_bar.SIDES}
    hand, hands = np.array(five_bar.REST), []
    for left, right in values:
        elbows = [
            np.array([sign * five_bar.BASE, 0.0]) + five_bar.UPPER * np.array([np.cos(angle), np.sin(angle)])
            for sign, angle in ((-1.0, rest["l"] + left), (1.0, rest["r"] + right))
        ]
        for _ in range(50):
            away = hand - elbows
            hand = hand - np.linalg.lstsq(away, 0.5 * ((away**2).sum(axis=1) - five_bar.FORE**2), rcond=1e-12)[0]
        hands.append(hand)
    return np.array(hands)


def mjcf(gravity: float, stiffness: float = 50.0) -> str:
    arms = ""
    for side, sign in five_bar.SIDES.items():
        at = five_bar.elbow(*five_bar.REST, side)
        upper, fore = at - np.array([sign * five_bar.BASE, 0.0]), np.array(five_bar.REST) - at
        arms += f"""
        <body pos="{sign * five_bar.BASE} 0 0"><joint name="motor_{side}" axis="0 -1 0" damping="0.02"/>
          <geom type="capsule" fromto="0 0 0 {upper[0]} 0 {upper[1]}" size="0.004" mass="0.03"/>
          <body pos="{upper[0]} 0 {upper[1]}"><joint axis="0 -1 0" damping="0.0005"/>
            <geom type="capsule" fromto="0 0 0 {fore[0]} 0 {fore[1]}" size="0.004" mass="0.03"/>
            <site name="tip_{side}" pos="{fore[0]} 0 {fore[1]}"/></body></body>"""
    return f"""<mujoco><option gravity="0 0 {gravity}" timestep="0.0005" integrator="implicitfast"/>
      <default><geom contype="0" conaffinity="0"/></default><worldbody>{arms}</worldbody><equality>
        <connect site1="tip_l" site2="tip_r" solref="0.001 1" solimp="0.999 0.9999"/></equality>
      <actuator><position joint="motor_l" kp="{stiffness}" kv="{0.01 * stiffness}"/>
      <position joint="motor_r" kp="{stiffness}" kv="{0.01 * stiffness}"/></actuator>
      </mujoco>"""


def height_in_mujoco(values: np.ndarray, gravity: float, stiffness: float = 50.0) -> float:
    """Return how high stiff servos bring the hand in the end [m]."""
    model = mujoco.MjModel.from_xml_string(mjcf(gravity, stiffness))
    data = mujoco.MjData(model)
    for goal in np.vstack([np.linspace(0.0, 1.0, 60)[:, None] * values[0], values, np.tile(values[-1], (60, 1))]):
        data.ctrl[:] = goal
        mujoco.mj_step(model, data, int(1.0 / RATE / model.opt.timestep))
    return float(data.site("tip_l").xpos[2])


def test_motors_that_lose_hold_are_told_where_newton_and_the_closed_form_say_so() -> None:
    robot, motion = bake(five_bar.down(0.2, 0.05))
    hold = hold_of(motion)
    bodies = motion.position, motion.quaternion
    hand = frame_poses(robot, "hand", *bodies)[0][:, [0, 2]]  # type: ignore[arg-type]
    assert np.abs(hand - five_bar.down(0.2, 0.05)[:, [0, 2]]).max() < 1e-5, "the bake meets its targets"
    in_closed_form = np.array([five_bar.hold(x, z) for x, z in hand])
    below = np.flatnonzero(in_closed_form < LEAST)
    np.testing.assert_array_equal(hold.below, below)
    assert hold.frame == in_closed_form.argmin()
    assert set(hold.motors) == {"motor_l", "motor_r"}
    assert set(hold.bodies) == {"fore_l", "fore_r"}
    off = np.linalg.norm(hands_by_newton(motion.values) - hand, axis=1)
    assert off[: below[0]].max() < 1e-6
    if off.max() > 1e-3:  # both fall to either side, as the robot does
        assert abs(hold.apart[0] - np.flatnonzero(off > 1e-6)[0]) <= len(below)


def test_stiff_servos_fall_to_either_side_where_hold_is_lost_and_to_none_where_it_is_kept() -> None:
    for bottom, is_kept in ((0.14, True), (0.05, False)):
        _, motion = bake(five_bar.down(0.2, bottom))
        up, down = height_in_mujoco(motion.values, 4.0), height_in_mujoco(motion.values, -4.0)
        assert (max(abs(up - bottom), abs(down - bottom)) < 3e-3) == is_kept, (up, down)
        assert hold_of(motion).is_kept == is_kept


@pytest.mark.parametrize("every", [1, 7, 13, 29])
def test_what_lies_between_two_samples_is_told(every: int) -> None:
    """Samples far apart may all have hold: the sign of the forearms' angle says that it was 0 between them."""
    _, motion = bake(five_bar.down(0.2, 0.05)[::every])
    hold = hold_of(motion)
    assert not hold.is_kept
    assert hold.least == 0.0
    bends = np.sign([five_bar.bend(0.004, z) for z in five_bar.down(0.2, 0.05)[::every, 2]])
    first = int(np.flatnonzero(np.diff(bends))[0])
    assert set(hold.below) & {first, first + 1}


def test_a_bake_in_another_assembly_than_its_motors_come_to_is_told() -> None:
    robot = five_bar.robot()
    places = five_bar.down(0.04, 0.035)
    motion = retarget(robot, TargetClip(np.arange(len(places)) / RATE, {"hand": Track(position=places)}), ANYWHERE)
    hand = frame_poses(robot, "hand", motion.position, motion.quaternion)[0]  # type: ignore[arg-type]
    assert np.abs(hand - places).max() < 1e-5
    there = hands_by_newton(np.linspace(0.0, 1.0, 200)[:, None] * motion.values[0])[-1]
    assert np.linalg.norm(there - hand[0, [0, 2]]) > 0.05, "the motors bring it to the other assembly"
    assert hold_of(motion).apart == tuple(range(len(places)))
    assert hold_of(motion).distance > 0.01


def test_report_s_key_and_no_key_without_loops() -> None:
    _, motion = bake(five_bar.down(0.2, 0.05))
    found = report_summary(motion)["hold"]
    assert found["least"] == 0.0
    assert found["frame"] in found["frames_below"]
    assert set(found["motors"]) == {"motor_l", "motor_r"}
    json.dumps(found, allow_nan=False)
    assert pickle.loads(pickle.dumps(motion)).report.hold.below == hold_of(motion).below
    _, gentle = bake(five_bar.down(0.2, 0.15))
    found = report_summary(gentle)["hold"]
    assert found["frames_below"] == found["motors"] == found["frames_apart"] == []
    assert found["least"] == pytest.approx(min(five_bar.hold(0.004, z) for z in (0.2, 0.15)), rel=1e-3)
    arm = robots.load("ur10")
    clip = TargetClip(np.zeros(1), {"tool": Track(position=np.array([[0.5, 0.3, 0.6]]))})
    assert report_summary(retarget(arm, clip))["hold"] is None


def test_a_motion_whose_loops_cannot_close_or_that_is_edited_is_told() -> None:
    robot, motion = bake(five_bar.down(0.2, 0.15, frames=31))
    apart = motion.values.copy()
    apart[20:25] += np.array([1.3, -1.3])  # the elbows come further from each other than both forearms are long
    hold = hold_along(robot, apart)
    assert hold is not None
    assert hold.apart == tuple(range(20, 25))
    clip = TargetClip(motion.times, {"hand": Track(position=five_bar.down(0.2, 0.15, frames=31))})
    again = judged(robot, clip, Settings(), Motion(times=motion.times, actuators=motion.actuators, values=apart), None)
    assert set(hold_of(again).apart) == set(range(20, 25))
    part = hold.part(22, 31)
    assert (part.apart, len(part.values)) == ((0, 1, 2), 9)
    assert hold.part(0, 10).is_kept


@pytest.mark.parametrize("name", LOOPED)
def test_a_gentle_motion_of_a_robot_that_ships_loses_nothing(name: str) -> None:
    _check_gentle(robots.load(name))


@pytest.mark.parametrize("file", OF_OTHERS)
def test_a_gentle_motion_of_a_robot_of_others_loses_nothing(file: str, shared_data: Path) -> None:
    _check_gentle(load(shared_data / file))


def _check_gentle(robot: Mechanism) -> None:
    """Move frames by up to 2 % of the robot's size to and fro, and look at the bake and at its motors alone."""
    rest = ForwardKinematics(robot).poses(robot.actuator_rest[None])
    times, rng = np.arange(90) / RATE, np.random.default_rng(1)
    names = [frame.name for frame in robot.frames][:4] or [robot.bodies[-1].name]
    tracks = {}
    for name in names:
        place = frame_poses(robot, name, rest.position, rest.quaternion)[0]
        tracks[name] = Track(position=place + np.sin(4.0 * times)[:, None] * rng.uniform(-0.02, 0.02, 3) * robot.extent)
    motion = retarget(robot, TargetClip(times, tracks))
    hold, alone = hold_of(motion), hold_along(robot, motion.values)
    assert hold.is_kept, str(hold)
    assert alone is not None and alone.is_kept, str(alone)
    np.testing.assert_allclose(alone.least, hold.least, rtol=1e-4)


def test_solve_says_it_and_play_refuses(tmp_path: Path) -> None:
    robot = five_bar.robot()
    save_robot(robot, tmp_path / "five.robik.json")
    _write_chain(tmp_path / "five.servos.json")
    (tmp_path / "anywhere.json").write_text(json.dumps({"hold": 0.0}))
    for name, bottom in (("lost", 0.05), ("kept", 0.15)):
        places = five_bar.down(0.2, bottom)
        save_clip(TargetClip(np.arange(len(places)) / RATE, {"hand": Track(position=places)}), tmp_path / "clip.npz")
        done = robik(
            tmp_path, "solve", "five.robik.json", "clip.npz", "-o", f"{name}.csv", "--settings", "anywhere.json"
        )
        assert done.returncode == 0, done.stderr
        assert ("the motors lose hold of the robot in frames" in done.stdout) == (name == "lost"), done.stdout
    how = ("--servos", "five.servos.json", "--port", "sim", "--robot", "five.robik.json")
    done = robik(tmp_path, "play", "lost.csv", *how)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    for part in ("the motion must not be played", "lose hold", "motor_l", "fore_l"):
        assert part in done.stderr, done.stderr


@pytest.mark.real_time
def test_play_goes_on_where_that_is_asked_for_or_hold_is_kept(tmp_path: Path) -> None:
    save_robot(five_bar.robot(), tmp_path / "five.robik.json")
    _write_chain(tmp_path / "five.servos.json")
    how = ("--servos", "five.servos.json", "--port", "sim", "--robot", "five.robik.json")
    for bottom, more, said in ((0.05, ("--lose-hold",), "warning: the motors lose hold"), (0.15, (), "")):
        _, motion = bake(five_bar.down(0.2, bottom, frames=31))
        rows = np.column_stack([2.0 * motion.times, motion.values]).tolist()
        text = "\n".join([",".join(["time", *motion.actuators]), *(",".join(map(repr, row)) for row in rows)])
        (tmp_path / "motion.csv").write_text(text + "\n")
        done = robik(tmp_path, "play", "motion.csv", *how, *more)
        assert done.returncode == 0, done.stderr
        assert ("lose hold" in done.stderr) == bool(said)
        assert said in done.stderr


def _write_chain(path: Path) -> None:
    servos = [
        {"actuator": f"motor_{side}", "id": k, "model": "XH430-W210", "direction": 1, "zero": 2048, "gear_ratio": 1.0,
         "position_limits": [-3.0, 3.0], "velocity_limit": 6.0}
        for k, side in enumerate(five_bar.SIDES, 1)
    ]  # fmt: skip
    chain = {"format": "robik-servos", "version": 1, "robot": "five_bar", "baud_rate": 1000000, "servos": servos}
    path.write_text(json.dumps(chain))


def test_a_show_is_checked_for_robots_that_it_names(tmp_path: Path) -> None:
    save_robot(five_bar.robot(), tmp_path / "five.robik.json")
    _write_chain(tmp_path / "five.servos.json")
    _, motion = bake(five_bar.down(0.2, 0.05, frames=61))
    rows = np.column_stack([2.0 * motion.times, motion.values]).tolist()
    text = "\n".join([",".join(["time", *motion.actuators]), *(",".join(map(repr, row)) for row in rows)])
    (tmp_path / "motion.csv").write_text(text + "\n")
    robots_of = {"five": {"servos": "five.servos.json", "port": "sim", "robot": "five.robik.json"}}
    shown = {"format": "robik-show", "version": 1, "robots": robots_of, "acts": [{"motions": {"five": "motion.csv"}}]}
    (tmp_path / "a.show.json").write_text(json.dumps(shown))
    done = robik(tmp_path, "show", "a.show.json", "--check")
    assert done.returncode == 2
    assert "five: motion.csv: the motors lose hold" in done.stderr
    done = robik(tmp_path, "show", "a.show.json", "--check", "--lose-hold")
    assert done.returncode == 0, done.stderr
    assert "lose hold" in done.stderr
