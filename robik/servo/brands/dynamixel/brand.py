"""The brand Dynamixel, as chains know it: its models and what its bus carries."""

from __future__ import annotations

from ..brand import Brand, GainRange, Gains, ServoModel
from ..tables import user_folder
from .models import (
    ACCELERATION_UNIT,
    BAUD_RATES,
    GAIN_ENTRIES,
    MAX_TURNS_COUNTS,
    MODELS,
    NAME,
    PROBLEMS,
    SHAPE,
    VELOCITY_UNIT,
    Model,
    is_playable,
)

GOAL_BYTES, SPEED_BYTES = (
    (14, 5),
    4,
)  # of a Sync Write of goal positions: fixed, and per servo; more per servo with speeds
LOOK_BYTES = 47  # of a Fast Sync Read from one servo and its answer, by indirect addresses
LIKELY_BAUDS = (57_600, 1_000_000, 2_000_000, 3_000_000, 4_000_000, 115_200, 4_500_000, 9_600)  # the factory's first
WAKING = 0.6  # [s]


def servo_model(model: Model) -> ServoModel:
    """Return the constants and limits of a model that a chain needs."""
    acceleration = model.table.get("profile_acceleration")
    velocity, current, unit = model.table.get("velocity_limit"), model.table.get("current_limit"), model.current_unit
    return ServoModel(
        name=model.name,
        counts_per_turn=model.counts_per_turn,
        centre=model.counts_per_turn // 2,
        farthest=MAX_TURNS_COUNTS,
        velocity_unit=VELOCITY_UNIT,
        factory_velocity=velocity.initial * VELOCITY_UNIT if velocity else 0.0,
        highest_velocity=velocity.high * VELOCITY_UNIT if velocity else 0.0,
        max_speed=model.max_speed,
        current_unit=unit,
        highest_current=None if unit is None or current is None else current.high * unit,
        is_playable=is_playable(model),
        motor=model.motor,
        gains=gains_of(model),
        acceleration_unit=ACCELERATION_UNIT,
        highest_acceleration=acceleration.high * ACCELERATION_UNIT if acceleration else 0.0,
    )


def gains_of(model: Model) -> Gains | None:
    """Return factory value and highest of a model's P, I and D gains.

    None where it has none, or keeps them elsewhere than the X series.
    """
    items, shape = [model.table.get(name) for name in GAIN_ENTRIES], MODELS[SHAPE].table
    found = [item for item in items if item is not None and item[:3] == shape[item.name][:3]]
    return Gains(*(GainRange(item.initial, item.high) for item in found)) if len(found) == len(items) else None


DYNAMIXEL = Brand(
    name=NAME,
    title="Dynamixel",
    models={name: servo_model(model) for name, model in MODELS.items()},
    default_model="XH430-W350",
    baud_rates=BAUD_RATES,
    streaming_baud=1_000_000,
    likely_bauds=LIKELY_BAUDS,
    goal_bytes=GOAL_BYTES,
    speed_bytes=SPEED_BYTES,
    look_bytes=LOOK_BYTES,
    waking=WAKING,
    folder=user_folder(NAME),
    problems=tuple(PROBLEMS),
)
