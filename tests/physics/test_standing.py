"""Make It Stand: what is tried, in which order, and what comes out."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from robik.cli import main
from robik.clips.clip import TargetClip, Track
from robik.feet.swings import landing_softly, narrowed
from robik.formats import save_robot
from robik.motions import load_motion, save_motion
from robik.motions.needs import Needs
from robik.physics.motors import Motors, motors_of
from robik.physics.remedies import Remedy, source_of
from robik.physics.standing import make_it_stand
from robik.robots import load, servos_path
from robik.servo.imu.mount import ImuMount
from tests.physics.robots import lean, standing_still, tower


def test_servos_too_soft_to_stand_get_twice_the_gain_that_standing_needs() -> None:
    walker = load("walker")
    motors = motors_of(str(servos_path("walker")), walker)
    found = make_it_stand(source_of(walker, standing_still(walker, 3.0)), motors, 4)
    assert [attempt.name for attempt in found.attempts][:2] == ["as it is", "carry weight"]
    assert not any(attempt.stands for attempt in found.attempts[:-1]), "the least change that stands is the last tried"
    best = found.best
    assert best.stands
    assert best.remedy.carry
    assert best.remedy.p_gain is not None
    assert 2.0 <= motors.leg(best.remedy.p_gain) < 2.1
    assert found.needs == ()
    assert found.as_data()["attempts"][found.chosen]["p_gain"] == best.remedy.p_gain


def test_what_cannot_stand_says_what_would_have_to_change_and_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    robot = tower()
    weak = replace(robot, joints=tuple(replace(j, effort_limit=1.5) if j.actuated else j for j in robot.joints))
    save_robot(weak, tmp_path / "weak.robik.json")
    save_motion(lean(0.5, 1.0), tmp_path / "lean.csv")
    stood = tmp_path / "stood.csv"
    arguments = ["physics", str(tmp_path / "weak.robik.json"), str(tmp_path / "lean.csv"), "--trials", "1"]
    assert main([*arguments, "--make-it-stand", str(stood)]) == 1
    printed = capsys.readouterr()
    said = [line.lstrip("→ ") for line in printed.out.splitlines()]
    needs = [line for line in said if line.startswith("does not stand like that; ")]
    assert any("more torque than motors have: ankle " in need for need in needs), needs
    tried = said[: -len(needs)]
    assert [line.split("  ")[0] for line in tried[:2]] == ["as it is", "carry weight"]
    assert any(line.startswith("balance Moving") for line in tried)
    assert tried[-1].startswith("50 % of the pace")
    (rehearsed,) = (k for k, line in enumerate(tried) if line.startswith("rehearsed, "))
    assert "no goals were found that keep it up" in tried[rehearsed]
    assert {line.split(" of the pace")[0][-1] for line in tried[rehearsed + 1 :]} == {"%"}, "slower is the last"
    assert tried[rehearsed - 1].startswith("feet land softly")
    assert not any(line.startswith("tilt feedback") for line in tried), "there is no sensor"
    assert f"{stood} was not written" in printed.err
    assert not stood.exists()


def test_a_pace_that_is_slower_somewhere_never_goes_backwards_and_keeps_the_rest() -> None:
    times = np.arange(0.0, 10.0, 0.01)
    warped = Remedy(windows=((4.0, 5.0),), speed=0.5).times(times)
    steps = np.diff(warped)
    assert steps.min() == pytest.approx(0.01)
    assert steps.max() == pytest.approx(0.02)
    assert warped[0] == 0.0
    np.testing.assert_allclose(steps[times[1:] < 3.0], 0.01, rtol=1e-9)
    inside = (times[1:] > 4.0) & (times[1:] < 5.0)
    np.testing.assert_allclose(steps[inside], 0.02, rtol=1e-6)
    whole = Remedy(windows=((-np.inf, np.inf),), speed=0.5).times(times)
    np.testing.assert_allclose(whole, 2.0 * times)


def test_swings_are_shorter_and_land_without_speed() -> None:
    robot = tower()
    times = np.linspace(0.0, 1.0, 101)
    stands = (times < 0.2) | (times >= 0.8)
    up = np.where(stands, 0.0, 0.05)
    up[stands.argmin() : 80] = 0.05 * np.linspace(1.0, 0.0, 80 - stands.argmin())
    way = np.stack([np.clip((times - 0.2) / 0.6, 0.0, 1.0) * 0.4, 0.0 * times, up], axis=1)
    clip = TargetClip(times, {"sole": Track(way, contact=stands)})
    soft = landing_softly(robot, clip).tracks["sole"].position
    assert soft is not None
    falling = np.diff(way[:, 2])[76:79] / np.diff(times)[76:79]
    gentle = np.diff(soft[:, 2])[76:79] / np.diff(times)[76:79]
    assert (np.diff(np.abs(gentle)) < 0.0).all()
    assert np.abs(gentle[-1]) < 0.3 * np.abs(falling[-1])
    np.testing.assert_array_equal(soft[stands], way[stands])
    over = way + np.array([0.1, 0.2, 0.5])
    narrow = narrowed(replace(clip, com=over), 0.5)
    for short, whole in ((narrow.tracks["sole"].position, way), (narrow.com, over)):
        assert short is not None
        np.testing.assert_allclose(short[:, :2], whole[0, :2] + 0.5 * (whole[:, :2] - whole[0, :2]))
        np.testing.assert_array_equal(short[:, 2], whole[:, 2])


def test_the_command_writes_what_it_chose(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    walker = load("walker")
    save_motion(standing_still(walker), tmp_path / "still.csv")
    arguments = ["physics", "walker", str(tmp_path / "still.csv"), "--servos", str(servos_path("walker"))]
    stood = tmp_path / "stood.csv"
    assert main([*arguments, "--p-gain", "8000", "--trials", "2", "--make-it-stand", str(stood), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["stands"] is True
    assert found["chosen"] == 0
    assert found["attempts"][0]["name"] == "as it is"
    np.testing.assert_allclose(load_motion(stood).values, standing_still(walker).values)
    assert load_motion(stood).needs == Needs(p_gain=8000.0)
    arguments[2] = str(stood)
    assert main([*arguments, "--trials", "0", "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["stands"] is True
    assert told.err == f"note: {stood} was made to stand with a P gain of 8000, and is tried so\n"
    assert main([*arguments, "--trials", "0", "--p-gain", "900", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["stands"] is False


def test_a_sensor_is_tried_before_the_motion_is_changed() -> None:
    """Two legs of 0.44 m g h at their highest gain: only feedback is left that keeps the motion as it is."""
    walker = load("walker")
    motors = motors_of(str(servos_path("walker")), walker)
    assert motors.chain is not None
    soft = 0.44 * motors.factory_gain / motors.leg()
    sensing = replace(motors.chain, imu=ImuMount(port="/dev/ttyUSB1"))
    bounded = _Bounded(room=motors.room, chain=sensing, most=soft)
    found = make_it_stand(source_of(walker, standing_still(walker, 3.0)), bounded, 1, p_gain=soft)
    assert [attempt.name for attempt in found.attempts] == ["as it is", "carry weight", "tilt feedback"]
    assert [attempt.stands for attempt in found.attempts] == [False, False, True]
    assert found.best.remedy == Remedy(carry=True, p_gain=soft, feedback=True)
    assert found.as_data()["attempts"][2]["tilt_feedback"] is True


@dataclass(frozen=True, kw_only=True)
class _Bounded(Motors):
    """Motors whose gain cannot go higher.

    Attributes:
        most: the highest P gain.
    """

    most: float

    @property
    def highest_gain(self) -> float:
        return self.most
