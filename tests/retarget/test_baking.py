"""Balance as far as a robot can keep it: by default on, and left out in silence where no foot follows."""

from dataclasses import replace

import numpy as np
import pytest

from robik import TargetClip, Track, robots
from robik.mechanism import Mechanism
from robik.retarget.baking import BALANCES, Balance, balance_by_name
from robik.retarget.balance import with_balance

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
