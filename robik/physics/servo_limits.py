"""Limits that known servos put on a bake: accelerations that they keep, and room that balance leaves for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from ..bake.settings import BakeSettings, Balance
from ..balance.giving import motors_give
from ..errors import ServoError
from ..mechanism import Mechanism
from ..servo.chain.chain import ServoChain
from ..servo.chain.file import load_chain
from .motors import chain_drives

CHAIN_EXTENSION = ".servos.json"
AnyBalance = TypeVar("AnyBalance", bound=Balance)


def file_beside(robot_file: Path | None) -> Path | None:
    """Return the servo file beside a robot's file, `NAME.servos.json` beside `NAME.urdf`; None without one."""
    if robot_file is None:
        return None
    beside = robot_file.with_name(robot_file.name.split(".")[0] + CHAIN_EXTENSION)
    return beside if beside.is_file() else None


def chain_beside(robot_file: Path | None) -> ServoChain | None:
    """Return the servos of the file beside a robot's file; None without one."""
    beside = file_beside(robot_file)
    return None if beside is None else load_chain(beside)


def with_servos(
    balance: AnyBalance,
    settings: BakeSettings,
    mechanism: Mechanism,
    chain: ServoChain | None,
    p_gain: float | None = None,
) -> tuple[AnyBalance, BakeSettings]:
    """Return balance and settings of a bake for a robot that known servos move.

    The settings get the servos' accelerations, the balance the yield of the servos where that is to be added. `p_gain`
    is the position P gain; the chain's if left out, else the factory's.
    """
    if chain is None:
        return balance, settings
    accelerations = {servo.actuator: servo.acceleration_limit for servo in chain.servos}
    return with_give(balance, mechanism, chain, p_gain), replace(settings, servo_acceleration=accelerations)


def with_give(
    balance: AnyBalance, mechanism: Mechanism, chain: ServoChain | None, p_gain: float | None = None
) -> AnyBalance:
    """Return a balance with the yield of known servos, where that is to be added.

    It stays as it was, for a share of the sole, where the servos' motors are not known.
    """
    if chain is None or not balance.over_feet or balance.gives is not None or not mechanism.mass > 0:
        return balance
    try:
        drives = chain_drives(chain, mechanism, p_gain)
    except ServoError:  # of a model whose motor is unknown
        return balance
    return replace(balance, gives=motors_give(mechanism, drives))
