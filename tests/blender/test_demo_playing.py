"""How the demo brings a motion to the servos, and its report to people."""

from __future__ import annotations

import numpy as np
import pytest
from bl_ext.user_default.robik.robik.motions import Motion
from bl_ext.user_default.robik.robik.servo.chain.chain import ServoChain
from bl_ext.user_default.robik.robik.servo.chain.servo import Servo
from bl_ext.user_default.robik.robik.servo.play.softening import MARGIN

from demo.playing import play, slowed_down
from demo.table import attempts, falls, table

CHAIN = ServoChain(tuple(Servo(name, k + 1, velocity_limit=2.0) for k, name in enumerate(("hip", "knee"))))


def motion(speed: float, duration: float = 0.4) -> Motion:
    times = np.linspace(0.0, duration, 21)
    return Motion(times=times, actuators=("knee", "hip"), values=np.column_stack([0.1 + speed * times, 0.0 * times]))


def test_a_motion_that_the_servos_can_follow_stays_as_it_is():
    same, factor = slowed_down(motion(1.9), CHAIN)
    assert factor == 1.0
    assert same.times[-1] == pytest.approx(0.4)


def test_a_faster_one_is_slowed_down_to_what_they_can():
    slower, factor = slowed_down(motion(6.0), CHAIN)
    assert factor == pytest.approx(3.0 / MARGIN)
    assert slower.peak_velocity()["knee"] == pytest.approx(MARGIN * 2.0)


@pytest.fixture(scope="module")
def played() -> dict:
    return play(motion(1.0), CHAIN)


@pytest.mark.one_blender
def test_every_goal_goes_over_the_bus(played):
    assert played["packets"] + played["dropped"] == 41  # 0.4 s at 100 Hz, both ends
    assert played["bytes_per_packet"] == 24
    assert played["bytes"] == 24 * played["packets"]
    assert played["ms_per_packet_on_the_bus"] == pytest.approx(0.24)


@pytest.mark.one_blender
def test_the_servos_end_where_the_motion_ends(played):
    assert played["away_at_the_end_rad"] < 0.05


@pytest.mark.one_blender
def test_the_table_tells_naive_from_balanced(played):
    bake = {
        "frames": 21,
        "position_error_max_m": 0.0012,
        "position_error_mean_m": 0.0001,
        "orientation_error_max_rad": 0.002,
        "constraint_residual_max": 3e-13,
        "ms_per_frame_median": 0.25,
        "zero_moment_margin_min_m": 0.01,
        "frames_tipping": 0,
        "physics": {"stands": True, "falls_at_s": None, "stands_share": 0.95},
        "com_error_max_m": 0.0002,
        "peak_velocity": {"hip": 0.5, "knee": 1.5},
    }
    fallen = {"stands": False, "falls_at_s": 0.84, "stands_share": 0.0}
    naive = bake | {"zero_moment_margin_min_m": -0.018, "frames_tipping": 9, "physics": fallen}
    rows = ({"name": "as it is", "told": "falls after 0.8 of 2.0 s"}, {"name": "carry weight", "told": "stands"})
    stood = {"attempts": list(rows), "chosen": 1, "own_pace": "stands"}
    report = bake | {"naive": naive, "servos": played, "velocity_limit": {"hip": 5.0, "knee": 2.0}}
    text = table(report)
    cells = {line.partition("  ")[0]: line.split() for line in text.splitlines()}
    lines = {label: words[-4:] for label, words in cells.items()}
    assert lines["ground's force inside the feet by"] == ["-18.0", "mm", "+10.0", "mm"]
    assert lines["frames that tip"][-2:] == ["9", "0"]
    assert lines["fastest motor"] == ["1.50", "of", "2.00", "rad/s"]
    assert "24 bytes, 0.24 ms each" in text
    assert "the naive bake falls after 0.8 s, the balanced one stands to the end, and in 95 % of" in falls(report)
    assert "→ carry weight  stands\n" in attempts(stood)
    assert "  as it is      falls after 0.8 of 2.0 s" in attempts(stood)
