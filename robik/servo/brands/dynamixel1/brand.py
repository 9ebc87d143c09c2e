"""Dynamixel servos of Protocol 1.0, as chains know them: their models and what their bus carries."""

from __future__ import annotations

from ..brand import Brand, ServoModel
from ..tables import user_folder
from .models import BAUD_CODES, BAUD_RATES, MODELS, NAME, PROBLEMS, Model

GOAL_BYTES = (8, 5)  # of a Sync Write of goal position and moving speed: fixed, and per servo
LOOK_BYTES = 34  # of a Read from one servo and its answer
LIKELY_BAUDS = (1_000_000, 57_600, 115_200, 500_000, 250_000, 200_000, 400_000)  # the factory's first
WAKING = 0.1  # [s]


def servo_model(model: Model) -> ServoModel:
    """Return the constants and limits of a model that a chain needs."""
    highest = model.table["moving_speed"].high * model.velocity_unit
    return ServoModel(
        name=model.name,
        counts_per_turn=model.counts_per_turn,
        centre=(model.last + 1) // 2,
        farthest=model.last,
        velocity_unit=model.velocity_unit,
        factory_velocity=min(model.max_speed, highest),
        highest_velocity=highest,
        max_speed=model.max_speed,
        is_playable=model.max_speed > 0,
    )


DYNAMIXEL1 = Brand(
    name=NAME,
    title="Dynamixel Protocol 1",
    models={name: servo_model(model) for name, model in MODELS.items()},
    default_model="AX-12A",
    baud_rates=BAUD_RATES,
    baud_codes=BAUD_CODES,
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
