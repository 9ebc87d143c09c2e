"""The brand Feetech (STS and SMS series), as chains know it: its models and what its bus carries."""

from __future__ import annotations

from math import tau

from ..brand import Brand, GainRange, Gains, ServoModel
from ..tables import user_folder
from .models import BAUD_RATES, COUNTS_PER_TURN, GAIN_ENTRIES, MIDDLE, MODELS, NAME, PROBLEMS, Model

VELOCITY_UNIT = tau / COUNTS_PER_TURN  # [rad/s]: a count a second
FASTEST = 32_766  # [counts/s] that a goal's speed may say
GOAL_BYTES = (8, 7)  # of a Sync Write of goal position, time and speed: fixed, and per servo
LOOK_BYTES = 41  # of a Sync Read from one servo and its answer
LIKELY_BAUDS = (1_000_000, 115_200, 500_000, 57_600, 250_000, 128_000, 76_800, 38_400)  # the factory's first
WAKING = 1.0  # [s]
ACCELERATION_UNIT = 100 * VELOCITY_UNIT  # [rad/s²]


def servo_model(model: Model) -> ServoModel:
    """Return the constants and limits of a model that a chain needs."""
    return ServoModel(
        name=model.name,
        counts_per_turn=COUNTS_PER_TURN,
        centre=MIDDLE,
        farthest=COUNTS_PER_TURN - 1,
        velocity_unit=VELOCITY_UNIT,
        factory_velocity=model.max_speed,
        highest_velocity=FASTEST * VELOCITY_UNIT,
        max_speed=model.max_speed,
        is_playable=model.max_speed > 0,
        motor=model.motor,
        gains=Gains(*(GainRange(model.table[name].initial, model.table[name].high) for name in GAIN_ENTRIES)),
        acceleration_unit=ACCELERATION_UNIT,
        highest_acceleration=model.table["goal_acceleration"].high * ACCELERATION_UNIT,
    )


FEETECH = Brand(
    name=NAME,
    title="Feetech",
    models={name: servo_model(model) for name, model in MODELS.items()},
    default_model="STS3215",
    baud_rates=BAUD_RATES,
    streaming_baud=1_000_000,
    likely_bauds=LIKELY_BAUDS,
    goal_bytes=GOAL_BYTES,
    speed_bytes=0,
    look_bytes=LOOK_BYTES,
    waking=WAKING,
    has_watchdog=False,
    unguarded="lost its torque limit or its speed limit: it restarted, or another program changed it",
    folder=user_folder(NAME),
    problems=tuple(PROBLEMS),
)
