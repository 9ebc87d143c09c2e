"""Health of servos by their reports, one after the other at given times: what slows them down, and what stops them."""

from __future__ import annotations

from dataclasses import replace
from math import exp, pi

import pytest

from robik.servo.bus.health import Health
from robik.servo.bus.telemetry import Found, Telemetry
from robik.servo.chain.chain import ServoChain
from robik.servo.chain.servo import Servo

CHAIN = ServoChain((Servo("hip", 3), Servo("knee", 8)))
FOUND = Found(torque=True, position=2048, low=0, high=4095, is_single_turn=True, volts=12.0, celsius=30.0,
              celsius_limit=70.0, load_limit=600)  # fmt: skip
WELL = Telemetry(torque=True, is_guarded=True, is_stopped=False, errors=0, error="", load=0, position=2048, volts=12.0,
                 celsius=30.0)  # fmt: skip
DEGREE = 4096 / 360  # counts


@pytest.fixture
def health() -> Health:
    return Health(CHAIN, (FOUND, replace(FOUND, celsius_limit=80.0, load_limit=1000)))


@pytest.mark.parametrize(("celsius", "slow", "stop"), [(59.9, 0, 0), (60.0, 1, 0), (66.9, 1, 0), (67.0, 1, 1)])
def test_it_slows_down_ten_degrees_below_the_limit_and_stops_three_below(
    health: Health, celsius: float, slow: int, stop: int
) -> None:
    said = health.judge(0, replace(WELL, celsius=celsius), 1.0)
    heat = f"servo 3 (hip) is at {celsius:.0f} °C, and turns itself off at 70"
    assert health.strain == heat * slow
    assert said == f"{heat}; let it cool" * stop
    assert health.judge(1, replace(WELL, celsius=celsius), 1.0) == "", "its own limit is 80 °C"
    assert health.seen == [replace(WELL, celsius=celsius)] * 2


def test_a_load_counts_by_its_average_over_a_second_and_a_half(health: Health) -> None:
    for looks in range(45):
        stopped = health.judge(1, replace(WELL, load=-950), 0.1 * looks)
        average = 0.95 * (1.0 - exp(-(0.25 + 0.1 * looks) / 1.5))  # of the first look nobody knows how long it lasted
        assert health.load(1) == pytest.approx(average, rel=1e-9) and health.load(0) == 0.0
        words = f"servo 8 (knee) bears {100 * average:.0f} % of its greatest load"
        assert health.strain == (words if average >= 0.7 else "")
        assert stopped == (f"{words}; make the motion lighter" if average >= 0.9 else "")
    assert average > 0.9


def test_a_load_beyond_the_greatest_and_a_long_silence_count_as_much_as_they_may(health: Health) -> None:
    health.judge(0, replace(WELL, load=6000), 0.0)
    health.judge(0, replace(WELL, load=6000), 60.0)
    assert health.load(0) == pytest.approx(1.0 - exp(-0.5 / 1.5))
    health.judge(0, WELL, 60.15)
    assert health.load(0) == pytest.approx((1.0 - exp(-0.5 / 1.5)) * exp(-0.1))


def test_what_a_servo_complains_of_stops_all_and_a_lost_watchdog_where_goals_go_out(health: Health) -> None:
    assert (
        health.judge(0, replace(WELL, torque=False), 1.0) == "servo 3 (hip) lost its torque, as after a loss of power"
    )
    error = replace(WELL, errors=4, error="overheating", torque=False)
    assert health.judge(1, error, 1.0) == "servo 8 (knee) has a hardware error (overheating)"
    assert "stopped by its watchdog" in health.judge(1, replace(WELL, is_stopped=True), 1.0)
    assert health.judge(1, replace(WELL, is_guarded=False), 2.0) == ""
    lost = health.judge(1, replace(WELL, is_guarded=False), 3.0, is_streaming=True)
    assert lost.startswith("servo 8 (knee) lost its watchdog")
    assert health.judge(1, WELL, 4.0, is_streaming=True) == ""


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("speed", [0.0, 90.0, -90.0])  # degrees a second
def test_who_is_far_behind_for_half_a_second_does_not_follow(health: Health, side: int, speed: float) -> None:
    allowed = 0.35 * 180 / pi + 0.12 * abs(speed)  # degrees: 20 for a robot that stands, 11 more here

    def judged(behind: float, now: float) -> str:
        position = round(2048 + side * behind * DEGREE)
        return health.judge(0, replace(WELL, position=position), now, 2048, speed * DEGREE)

    assert [judged(allowed - 0.2, now) for now in (0.0, 10.0)] == ["", ""]
    assert [judged(allowed + 0.2, now) for now in (20.0, 20.49)] == ["", ""]
    words = f"servo 3 (hip) does not follow, it is {allowed + 0.2:.0f}° behind; is it blocked?"
    assert judged(allowed + 0.2, 20.5) == words
    assert judged(0.0, 20.6) == "", "it has caught up"
    assert [judged(allowed + 0.2, now) for now in (20.7, 21.1)] == ["", ""], "half a second counts anew"
    assert judged(allowed + 0.2, 21.3) != ""
    assert health.judge(0, replace(WELL, position=0), 30.0) == "", "without a goal nobody is behind"


def test_the_first_of_several_strains_is_told(health: Health) -> None:
    health.judge(1, replace(WELL, celsius=75.0), 1.0)
    assert health.strain.startswith("servo 8 (knee) is at 75 °C")
    health.judge(0, replace(WELL, celsius=65.0), 1.0)
    assert health.strain.startswith("servo 3 (hip) is at 65 °C")
    health.judge(0, WELL, 2.0)
    health.judge(1, WELL, 2.0)
    assert health.strain == ""
