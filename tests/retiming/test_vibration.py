"""Input shapers: no vibration of their frequency is left, and no bound is passed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robik.clip_solver.bounds import differences
from robik.errors import ClipError
from robik.motions import Motion
from robik.retiming import measured_vibration, shaped, shaper
from robik.servo.port.recording import Recording
from tests.clip_solver.clips import ARM


def moved(seconds: float = 0.6, rate: float = 200.0) -> Motion:
    """Return a motion that goes to another pose at once and stays there."""
    times = np.arange(round(rate * seconds)) / rate
    values = np.outer(np.clip(times / 0.2, 0.0, 1.0), np.full(len(ARM.actuators), 0.3))
    return Motion(times=times, actuators=ARM.actuators, values=values + np.array(ARM.actuator_rest))


def swung(motion: Motion, frequency: float, damping: float) -> float:
    """Return how far a flexible tip swings about where it should be once the motion is over, by small steps."""
    rate, x, v, steps = 2 * np.pi * frequency, 0.0, 0.0, 20
    goal = motion.values[:, 0] - motion.values[0, 0]
    dt, far = (motion.times[1] - motion.times[0]) / steps, 0.0
    for k, end in enumerate(np.concatenate([goal, np.full(400, goal[-1])])):
        for _ in range(steps):
            v += dt * (rate**2 * (end - x) - 2 * damping * rate * v)
            x += dt * v
        if k >= len(goal):
            far = max(far, abs(x - goal[-1]))
    return far


@pytest.mark.parametrize("frequency", [2.5, 4.0, 7.3])
def test_nothing_swings_afterwards(frequency: float) -> None:
    motion = moved()
    calm = shaped(ARM, motion, shaper(frequency, 0.02))
    assert swung(calm, frequency, 0.02) < 0.05 * swung(motion, frequency, 0.02)
    assert swung(calm, 1.08 * frequency, 0.02) < 0.25 * swung(motion, 1.08 * frequency, 0.02)
    assert calm.values[-1] == pytest.approx(motion.values[-1])


def test_bounds_that_were_kept_are_kept() -> None:
    t = np.arange(300) / 100
    values = np.array(ARM.actuator_rest) + 0.3 * np.sin(7 * t + np.arange(len(ARM.actuators))[:, None]).T
    motion = Motion(times=t, actuators=ARM.actuators, values=values)
    calm = shaped(ARM, motion, shaper(3.7))
    for before, after in zip(
        differences(motion.times, rests=(True, True)), differences(calm.times, rests=(True, True)), strict=True
    ):
        assert np.abs(after.of(calm.values)).max() <= np.abs(before.of(motion.values)).max() * (1 + 1e-9)
    assert (calm.values.max(axis=0) <= motion.values.max(axis=0) + 1e-12).all()
    assert calm.times[-1] - motion.times[-1] == pytest.approx(shaper(3.7).length, abs=0.011)


def test_a_shaper_says_what_it_leaves() -> None:
    by = shaper(5.0, 0.0)
    assert by.weights.sum() == pytest.approx(1.0)
    assert by.left(5.0) < 1e-12
    assert by.left(5.25) < 0.01
    assert by.left(2.5) > 0.4


def recorded(frequency: float, noise: float = 1e-4) -> Recording:
    """Return looks at two servos, now and then, the second of which swings after it has moved."""
    random = np.random.default_rng(4)
    times = np.cumsum(random.uniform(0.008, 0.02, 300))
    goal = np.column_stack([np.sin(times), np.clip(times, 0.0, 1.0)])
    swing = 0.02 * np.exp(-0.4 * times) * np.sin(2 * np.pi * frequency * times)
    position = goal + noise * random.standard_normal(goal.shape) + np.column_stack([0 * times, swing])
    position[::3, 1] = np.nan
    none = np.zeros_like(goal)
    return Recording(times, times, ("hip", "knee"), goal, position, none, none, none, none, none)


@pytest.mark.parametrize("frequency", [1.7, 6.2])
def test_a_vibration_is_measured(frequency: float) -> None:
    found, name, share = measured_vibration(recorded(frequency))
    assert found == pytest.approx(frequency, abs=0.1)
    assert name == "knee"
    assert share > 0.5


def test_what_is_no_vibration_is_said() -> None:
    calm = recorded(3.0)
    with pytest.raises(ClipError, match="no vibration stands out"):
        measured_vibration(replace(calm, position=calm.goal + 0.01))
    for wrong in (0.0, -2.0, float("nan"), float("inf")):
        with pytest.raises(ClipError, match="must be a positive number"):
            shaper(wrong)
    with pytest.raises(ClipError, match="damping must be from 0 to below 1"):
        shaper(3.0, 1.0)
