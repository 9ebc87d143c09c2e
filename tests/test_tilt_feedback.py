"""The law of tilt feedback: which way it turns, how far, and what it does with readings that cannot be."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.errors import RobikError
from robik.tilt_feedback import BOUNDS, TiltFeedback, TiltPlan

UP = np.array([0.0, 0.0, 1.0])
STEP = 0.01


def plan(gains: np.ndarray | None = None) -> TiltPlan:
    """A body that stands upright, and a motor about each of its axes that turns it."""
    turns = np.eye(3) if gains is None else gains
    times = np.arange(0.0, 2.0, 0.02)
    return TiltPlan(
        body="base",
        actuators=("x", "y", "z"),
        times=times,
        up=np.tile(UP, (len(times), 1)),
        gains=np.tile(turns, (len(times), 1, 1)),
    )


def seen(rotation: Rotation) -> np.ndarray:
    """The world's up in the axes of a body that is turned so."""
    return rotation.inv().apply(UP)


def steps(feedback: TiltFeedback, up: np.ndarray | None, count: int) -> np.ndarray:
    return np.array([feedback.step(k * STEP, up, STEP) for k in range(count)])


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (-0.6, 0.8, 0.0)])
def test_a_lean_is_turned_back_about_its_axis(axis) -> None:
    lean = 0.1 * np.array(axis)
    told = steps(TiltFeedback(plan()), seen(Rotation.from_rotvec(lean)), 50)[-1]
    assert told == pytest.approx(-BOUNDS.gain * lean, abs=2e-4)  # sin(0.1) for 0.1


def test_a_turn_about_the_vertical_is_not_seen() -> None:
    assert steps(TiltFeedback(plan()), seen(Rotation.from_rotvec([0.0, 0.0, 1.0])), 20) == pytest.approx(0.0)


def test_falling_is_met_sooner_than_leaning() -> None:
    feedback, still = TiltFeedback(plan()), TiltFeedback(plan())
    falling = [feedback.step(k * STEP, seen(Rotation.from_rotvec([0.5 * k * STEP, 0, 0])), STEP)[0] for k in range(9)]
    assert falling[-1] < steps(still, seen(Rotation.from_rotvec([0.5 * 8 * STEP, 0, 0])), 50)[-1][0] - 0.03


@pytest.mark.parametrize("lean", [0.3, 0.5])
def test_it_is_bounded_in_turn_in_speed_and_for_each_motor(lean: float) -> None:
    told = steps(TiltFeedback(plan(20.0 * np.eye(3))), seen(Rotation.from_rotvec([lean, -lean / 2, 0])), 100)
    assert np.abs(told).max() <= BOUNDS.motor
    gentle = steps(TiltFeedback(plan()), seen(Rotation.from_rotvec([lean, -lean / 2, 0])), 100)
    assert np.linalg.norm(gentle, axis=1).max() <= BOUNDS.turn + 1e-12
    changes = np.linalg.norm(np.diff(gentle, axis=0, prepend=0.0), axis=1)
    assert changes.max() <= BOUNDS.speed * STEP + 1e-12


@pytest.mark.parametrize("wrong", [None, np.full(3, np.nan), np.array([np.inf, 0.0, 0.0])])
def test_without_readings_it_fades_to_plain_goals(wrong) -> None:
    feedback = TiltFeedback(plan())
    assert np.abs(steps(feedback, seen(Rotation.from_rotvec([0.1, 0, 0])), 30)[-1]).max() > 0.05
    assert steps(feedback, wrong, 30)[-1] == pytest.approx(0.0)
    back = steps(feedback, seen(Rotation.from_rotvec([0.1, 0, 0])), 1)[0]
    assert np.abs(back).max() <= BOUNDS.speed * STEP + 1e-12, "no speed is made up from before the silence"


def test_who_has_fallen_is_not_righted() -> None:
    feedback = TiltFeedback(plan())
    told = steps(feedback, seen(Rotation.from_rotvec([1.2, 0, 0])), 50)
    assert feedback.is_fallen
    assert told == pytest.approx(0.0)
    assert feedback.lean == pytest.approx(1.2)


def test_a_stretch_at_another_speed_is_the_same_rows_at_other_times() -> None:
    base = plan()
    up = np.column_stack([base.times, np.zeros_like(base.times), np.ones_like(base.times)])
    whole = TiltPlan(body="base", actuators=base.actuators, times=base.times, up=up, gains=base.gains)
    part = whole.played((0.5, 1.5), 2.0)
    assert part.times[-1] == pytest.approx(0.5)
    assert part.up[part.index(0.25), 0] == pytest.approx(1.0)
    assert part.up[0, 0] == pytest.approx(0.5, abs=0.02)


def test_servos_get_the_rows_of_their_actuators() -> None:
    found = plan().of(("y", "nobody", "x", "y"))
    assert found.gains[0] == pytest.approx(np.array([[0, 1, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0]]))


def test_numbers_that_are_none_are_refused() -> None:
    with pytest.raises(RobikError, match="finite"):
        plan(np.full((3, 3), np.nan))
