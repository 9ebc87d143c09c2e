"""Following a playhead: when playback began, by frames that are shown late, and how a robot joins it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robik.motions import Motion
from robik.servo.chain.chain import default_chain
from robik.servo.play.playhead import ShownFrames, joining

FPS, FIRST = 24, 49
NAMES = ("hip", "knee")
SPEED, ACCELERATION = 2.0, 12.0


def chain():
    made = default_chain(NAMES, dict.fromkeys(NAMES, (-2.5, 2.5)), dict.fromkeys(NAMES, SPEED), model="XH430-W210")
    return replace(made, servos=tuple(replace(one, acceleration_limit=ACCELERATION) for one in made.servos))


def moving(values: np.ndarray, rate: float) -> Motion:
    return Motion(times=np.arange(len(values)) / rate, actuators=NAMES, values=values[:, None] * np.ones(2))


@pytest.mark.parametrize("skew", [2e-4, -2e-4])
def test_ten_minutes_of_late_frames_by_a_sound_cards_clock(skew: float) -> None:
    """Drawing takes up to 3 frames, each tenth second longer; unguided, the card would be 120 ms off in the end."""
    draws = np.random.default_rng(1)
    shown, now, off = ShownFrames(FIRST, FPS), 100.0, []
    while now < 700.0:
        now += draws.uniform(0.2, 3.0) / FPS + (0.3 if int(now) % 10 == 0 and draws.uniform() < 0.1 else 0.0)
        card = (now - 100.0) * (1.0 + skew)
        frame = FIRST + int(card * FPS)
        assert shown.note(frame, now)
        if now > 101.0:
            off.append(now - shown.begin - card)
    assert len(off) > 5000
    assert np.abs(off).max() < 5e-3


def test_it_begins_with_the_first_frame_but_for_a_false_start() -> None:
    """A frame, then a wait for the sound device; or a frame, and the next one in time."""
    shown = ShownFrames(FIRST, FPS)
    assert shown.note(FIRST, 9.9)
    assert shown.begin is None
    assert shown.note(FIRST + 1, 10.0)
    assert shown.begin == pytest.approx(10.0 - 1 / FPS)
    assert shown.note(FIRST + 2, 10.7)
    assert shown.begin == pytest.approx(10.7 - 2 / FPS)
    shown = ShownFrames(FIRST, FPS)
    assert shown.note(FIRST + 1, 10.0)
    assert shown.note(FIRST + 2, 10.0 + 2.4 / FPS)
    assert shown.begin == pytest.approx(10.0 - 1 / FPS)


def test_frames_to_which_playing_cannot_lead() -> None:
    shown = ShownFrames(FIRST, FPS)
    for k in range(1, 50):
        assert shown.note(FIRST + k, 10.0 + k / FPS)
    assert shown.begin == pytest.approx(10.0)
    assert shown.note(FIRST + 49, 10.0 + 49.5 / FPS)  # drawn once more
    assert not shown.note(1, 10.0 + 50 / FPS)
    assert not shown.note(FIRST + 80, 10.0 + 50 / FPS)
    assert shown.note(FIRST + 60, 10.0 + 60 / FPS)  # frames were left out
    assert (shown.begin, shown.last) == (pytest.approx(10.0), FIRST + 60)
    assert shown.due(10.0 + 70.5 / FPS) == pytest.approx(FIRST + 70.5)
    assert ShownFrames(FIRST, FPS).due(10.0) == FIRST


def test_who_begins_in_a_stand_begins_at_once_and_who_does_not_joins_as_the_limits_allow() -> None:
    times = np.arange(0.0, 4.0, 1 / 60)
    pace, steering = joining(moving(0.2 * (1.0 - np.cos(times)), 60), chain())
    assert (pace, steering) == (1.0, pytest.approx(1 / 3))
    assert joining(moving(1.0 * times - 1.0, 60), chain()) == (0.0, pytest.approx(1 / 3))
    pace, steering = joining(moving(1.8 * times - 1.0, 60), chain())  # 0.9 of the speed limit
    assert pace == 0.0
    assert 1.0 < 1.8 * (1.0 + steering) < SPEED
    assert joining(moving(SPEED * times - 1.0, 60), chain()) == (0.0, 0.02)
    assert joining(moving(np.ones(1), 60), chain())[0] == 1.0
