"""Balance as far as a robot can keep it: by default on, and left out in silence where no foot follows."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from robik import TargetClip, Track, robots
from robik.bake.balancing import balanced
from robik.bake.settings import BALANCES, BakeSettings, Balance, balance_by_name
from robik.bake.solver_settings import solver_settings
from robik.balance.plan import with_balance
from robik.errors import ClipError
from robik.mechanism import Mechanism
from robik.objectives.weights import Weights
from robik.retargeting.retarget import retarget
from tests.ik.balls import arm

TIMES = np.arange(30) / 30


def massless(robot: Mechanism) -> Mechanism:
    return robot.with_changes(bodies=tuple(replace(body, mass=0.0) for body in robot.bodies))


def test_by_default_a_robot_stands_on_its_feet() -> None:
    walker = robots.load("walker")
    assert Balance() == balance_by_name("auto") and Balance().pin_feet
    assert Balance().as_far_as(walker, ["pelvis", "foot_l"]) == Balance()


@pytest.mark.parametrize("mode", BALANCES)
def test_where_no_foot_follows_none_is_pinned_and_auto_is_off(mode: str) -> None:
    walker, boxer = robots.load("walker"), robots.load("boxer")
    kept = "off" if mode == "auto" else mode  # what was asked for by name is refused later, in a sentence
    for robot, frames in ((walker, ["pelvis"]), (boxer, ["hand"])):
        left = Balance(mode=mode).as_far_as(robot, frames)
        assert (left.mode, left.pin_feet) == (kept, False)


def test_a_robot_without_mass_has_its_feet_pinned_and_no_balance() -> None:
    left = Balance().as_far_as(massless(robots.load("walker")), ["foot_l", "pelvis"])
    assert (left.mode, left.pin_feet) == ("off", True)


def test_in_the_air_all_the_time_auto_leads_the_centre_of_mass_along_with_the_hips() -> None:
    walker = robots.load("walker")
    tracks = {}
    for name in ("pelvis", "foot_l", "foot_r"):
        rest = walker.rest_pose(name)
        path = np.tile(rest.position, (30, 1)) + TIMES[:, None] * (3.0, 0.0, 0.0) + (0.0, 0.0, 1.0)
        tracks[name] = Track(
            path, np.tile(rest.quaternion, (30, 1)), contact=np.zeros(30, dtype=bool) if name != "pelvis" else None
        )
    clip = TargetClip(TIMES, tracks)
    led = with_balance(walker, clip, pace="auto")
    assert np.diff(led.com[:, 0]) == pytest.approx(0.1, abs=1e-3), "as fast as the hips"
    assert np.isfinite(led.com).all()
    with pytest.raises(Exception, match="none of the feet foot_l, foot_r ever stands"):
        with_balance(walker, clip, pace="moving")


def test_balance_is_planned_frame_by_frame_for_limits_of_the_whole_clip() -> None:
    """Acceleration and jerk are kept where all frames are solved at once; the plans before that are not."""
    walker, times = robots.load("walker"), np.arange(45) / 30
    tracks = {}
    for name in ("pelvis", "foot_l", "foot_r"):
        rest = walker.rest_pose(name)
        path = np.tile(rest.position, (45, 1)) - (name == "pelvis") * np.outer(np.sin(4.0 * times), (0.0, 0.0, 0.02))
        tracks[name] = Track(path, np.tile(rest.quaternion, (45, 1)))
    clip = TargetClip(times, tracks)
    bake = BakeSettings(look_ahead=True, acceleration=8.0, jerk=400.0, cyclic=False)
    settings = solver_settings(walker, dict.fromkeys(tracks, Weights()), Balance(), bake)
    motion = retarget(walker, balanced(clip, walker, Balance(), settings), settings, look_ahead=True)
    assert np.abs(np.diff(motion.values, 2, axis=0)).max() * 900 <= 8.0 * 1.0005
    assert np.abs(np.diff(motion.values, 3, axis=0)).max() * 27000 <= 400.0 * 1.0005


@pytest.mark.parametrize("mode", ["still", "moving"])
def test_a_cyclic_clip_is_balanced_as_a_loop(mode: str) -> None:
    """Weight that is shifted at the end of a step on the spot: alone, such a clip begins and ends in the wish."""
    walker = robots.load("walker")
    times = np.arange(73) / 60
    phase = 2 * np.pi * times / 1.2 + 0.9  # it begins in the middle of a step
    tracks = {}
    for name, side in (("foot_l", 1.0), ("foot_r", -1.0), ("pelvis", 0.0)):
        rest = walker.rest_pose(name)
        rise = 0.06 * np.maximum(side * np.sin(phase) - 0.2, 0.0)
        tracks[name] = Track(rest.position + np.outer(rise, (0.0, 0.0, 1.0)), np.tile(rest.quaternion, (73, 1)))
    clip, balance = TargetClip(times, tracks), Balance(mode=mode)
    bake = BakeSettings(cyclic=True)
    settings = solver_settings(walker, dict.fromkeys(tracks, Weights()), balance, bake)
    found = balanced(clip, walker, balance, settings)
    assert (found.times == clip.times).all()
    assert found.com is not None
    assert np.ptp(found.com[:, 1]) > 0.004, "it shifts its weight"
    for values in (found.com, *(track.position for track in found.tracks.values())):
        assert values[-1] == pytest.approx(values[0], abs=5e-5)
        ends = np.abs(values[1] - values[0] - (values[-1] - values[-2])).max()
        assert ends < 1.5 * np.abs(np.diff(values, 2, axis=0)).max() + 1e-6, "nor does its speed jump"
    motion = retarget(walker, found, settings, look_ahead=True)
    assert motion.values[-1] == pytest.approx(motion.values[0], abs=1e-9)
    assert motion.report.quality.zero_moment_inside is None or motion.report.quality.zero_moment_inside > 0.95


def test_bakes_look_ahead_within_what_motors_can() -> None:
    """A motor reaches its speed in 0.05 s and that acceleration in 0.02 s, unless its servo or the user says."""
    ur10 = robots.load("ur10")
    speeds = ur10.actuator_velocity_limits
    first, second = ur10.actuators[:2]
    bakes = (
        (BakeSettings(look_ahead=True), speeds / 0.05, speeds / 0.05 / 0.02),
        (BakeSettings(look_ahead=True, acceleration=10.0, jerk=300.0), np.full(6, 10.0), np.full(6, 300.0)),
        (
            BakeSettings(look_ahead=True, servo_acceleration={first: 7.0, "gripper": 1.0}),
            np.where(np.arange(6) == 0, 7.0, speeds / 0.05),
            np.where(np.arange(6) == 0, 350.0, speeds / 0.05 / 0.02),
        ),
        (
            BakeSettings(look_ahead=True, acceleration=10.0, servo_acceleration={second: 7.0}),
            np.full(6, 10.0),
            np.full(6, 500.0),
        ),
    )
    for bake, acceleration, jerk in bakes:
        settings = solver_settings(ur10, {}, Balance(), bake)
        assert settings.look_ahead
        assert list(settings.acceleration_limit.values()) == pytest.approx(acceleration)
        assert list(settings.jerk_limit.values()) == pytest.approx(jerk)
    unkept = BakeSettings(look_ahead=True, enforce_velocity=False)
    assert not solver_settings(ur10, {}, Balance(), unkept).look_ahead, "nothing is to be kept"
    looped = solver_settings(ur10, {}, Balance(), replace(unkept, cyclic=True))
    assert looped.look_ahead and looped.acceleration_limit is None
    assert solver_settings(ur10, {}, Balance(), BakeSettings()).look_ahead
    assert not solver_settings(ur10, {}, Balance(), BakeSettings(look_ahead=False)).look_ahead


def test_a_bake_is_solved_frame_by_frame_where_look_ahead_cannot_be_and_says_so(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    ball = arm(speed=3.0)
    assert not solver_settings(ball, {}, Balance(), BakeSettings()).look_ahead
    assert "is solved frame by frame: look-ahead does not keep the speed" in caplog.text
    asked = solver_settings(ball, {}, Balance(), BakeSettings(jerk=9.0))
    with pytest.raises(ClipError, match="look_ahead does not keep the speed"):
        asked.check(ball)
    caplog.clear()
    ur10 = robots.load("ur10")
    assert solver_settings(ur10, {}, Balance(), BakeSettings()).look_ahead and not caplog.text
    monkeypatch.setitem(sys.modules, "piqp", None)
    assert not solver_settings(ur10, {}, Balance(), BakeSettings()).look_ahead
    assert "pip install '.[look-ahead]'" in caplog.text
