"""Settings: each value that cannot be is refused by its name, each border that can be is taken."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest

from robik import robots
from robik.errors import ClipError
from robik.objectives.settings import Settings

POSITIVE = (0.0, -1.0, nan)
CANNOT_BE = {
    "stillness": (*POSITIVE, inf),
    "posture": (*POSITIVE, inf),
    "state_weight": (*POSITIVE, inf),
    "velocity_weight": (-1e-9, nan, inf),
    "velocity_limit": POSITIVE,
    "linear_velocity_limit": POSITIVE,
    "length": (*POSITIVE, -inf, inf),
    "velocity_share": (0.0, -0.5, 1.0 + 1e-9, nan),
    "acceleration_limit": (*POSITIVE, True, "fast", {"crank": 0.0}, {"crank": True}),
    "jerk_limit": (*POSITIVE, True, "fast", {"crank": -1.0}, {"crank": nan}),
    "torque_limit": (*POSITIVE, True, "own", {"crank": 0.0}, {"crank": nan}),
    "zero_moment_margin": (-0.1, nan, inf, True, "wide", {"foot": 0.01}),
    "com_weight": ((1.0, 1.0), (1.0, -1.0, 1.0), (nan, 0.0, 0.0), (inf, 0.0, 0.0)),
    "contacts": ("", "held", None),
    "ranges": ({"crank": (1.0, 0.0)}, {"crank": (1.0,)}, {"crank": (nan, 1.0)}, {"crank": 5}, {"crank": "ab"}),
}
CAN_BE = {
    "state_weight": (None, 1e-300),
    "velocity_weight": (0.0,),
    "velocity_limit": (inf,),
    "linear_velocity_limit": (inf,),
    "length": (None, 1e-9),
    "velocity_share": (1e-9, 1.0),
    "acceleration_limit": (None, 5, {"crank": 5.0}),
    "torque_limit": (None, 5, {"crank": 5.0}),
    "zero_moment_margin": (None, 0, 0.02),
    "com_weight": ((0.0, 0.0, 0.0),),
    "contacts": ("hold", "ignore"),
    "ranges": ({"crank": (0.0, 0.0)}, {"crank": [-1.0, inf]}),
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in CANNOT_BE.items() for value in values])
def test_what_cannot_be_is_refused_by_its_name(name: str, value: Any) -> None:
    with pytest.raises(ClipError, match=name):
        Settings(**{name: value})


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in CAN_BE.items() for value in values])
def test_borders_are_taken(name: str, value: Any) -> None:
    taken = getattr(Settings(**{name: value}), name)
    assert taken == value or np.array_equal(taken, value)


@pytest.mark.parametrize("name", ["acceleration_limit", "jerk_limit", "torque_limit"])
def test_limits_of_the_whole_clip_need_it_and_actuators_that_are_there(name: str) -> None:
    four_bar = robots.load("four_bar")
    motor = four_bar.actuators[0]
    Settings(**{name: {motor: 1.0}}, look_ahead=True).check(four_bar)
    with pytest.raises(ClipError, match=f"{name} is kept only where"):
        Settings(**{name: 1.0}).check(four_bar)
    with pytest.raises(ClipError, match=f"{name} of elbow, which robot .* its actuators are {motor}"):
        Settings(**{name: {motor: 1.0, "elbow": 2.0}}, look_ahead=True).check(four_bar)
    with pytest.raises(ClipError, match="cyclic only where"):
        Settings(cyclic=True).check(four_bar)


def test_ranges_are_of_coordinates_that_are_there_and_within_their_limits() -> None:
    arm = robots.load("arm7")
    joint = arm.actuated[0]
    (name, *_), (low, high) = joint.coordinate_names, joint.limits[0]
    Settings(ranges={name: (low - 1.0, 0.5 * (low + high))}).check(arm)
    with pytest.raises(ClipError, match=f"ranges: {name} cannot be between .* its limits are"):
        Settings(ranges={name: (high + 0.1, high + 0.2)}).check(arm)
    with pytest.raises(ClipError, match="ranges of wrist, which robot 'arm7' does not have"):
        Settings(ranges={"wrist": (0.0, 1.0)}).check(arm)


def test_thresholds_of_the_velocity_regularizer() -> None:
    """A turn by φ has the quaternion distance 4 sin²(φ/2); a shift by s has s². Half a turn in a step is no limit."""
    dt = np.array([0.01, 0.1, 1.0])
    found = Settings(velocity_weight=1.0, velocity_limit=5.0, linear_velocity_limit=2.0).thresholds(dt)
    np.testing.assert_allclose(found[:, 0], [2.0 - 2.0 * np.cos(0.05), 2.0 - 2.0 * np.cos(0.5), inf], rtol=1e-9)
    np.testing.assert_allclose(found[:, 1], [4e-4, 0.04, 4.0], rtol=1e-12)
    assert np.isinf(Settings(velocity_limit=5.0, linear_velocity_limit=2.0).thresholds(dt)).all()
    assert np.isinf(Settings(velocity_weight=1.0).thresholds(np.array([0.0, 0.1]))).all()
