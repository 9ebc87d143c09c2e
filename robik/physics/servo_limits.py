"""Limits that known servos put on a bake: accelerations that they keep, and room that balance leaves for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from ..bake.settings import BakeSettings, Balance
from ..errors import ServoError
from ..mechanism import Mechanism
from ..retarget.giving import motors_give
from ..servo.chain import ServoChain
from ..servo.chain_file import load_chain
from .motors import chain_drives

CHAIN_EXTENSION = ".servos.json"
AnyBalance = TypeVar("AnyBalance", bound=Balance)


def file_beside(robot_file: Path | None) -> Path | None:
    """Return the servo file beside a robot's file, `NAME.servos.json` beside `NAME.urdf`.

    Args:
        robot_file: The robot's.

    Returns:
        The path; None where there is none.
    """
    if robot_file is None:
        return None
    beside = robot_file.with_name(robot_file.name.split(".")[0] + CHAIN_EXTENSION)
    return beside if beside.is_file() else None


def chain_beside(robot_file: Path | None) -> ServoChain | None:
    """Return the servos of the file beside a robot's file.

    Args:
        robot_file: The robot's.

    Returns:
        The chain; None where there is none.

    Raises:
        ServoError, FormatError: The file is not what it should be.
    """
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

    Args:
        balance: Of the clip.
        settings: Of the bake.
        mechanism: The robot.
        chain: Its servos; None where they are not known.
        p_gain: Position P gain that they are set to; that of the chain, else of the factory, if left out.

    Returns:
        The balance, with what the servos give way by where it is to be added, and the settings with their
        accelerations.
    """
    if chain is None:
        return balance, settings
    accelerations = {servo.actuator: servo.acceleration_limit for servo in chain.servos}
    return with_give(balance, mechanism, chain, p_gain), replace(settings, servo_acceleration=accelerations)


def with_give(
    balance: AnyBalance, mechanism: Mechanism, chain: ServoChain | None, p_gain: float | None = None
) -> AnyBalance:
    """Return a balance with what known servos give way by, where that is to be added.

    Args:
        balance: Of the clip.
        mechanism: The robot.
        chain: Its servos; None where they are not known.
        p_gain: As for `with_servos`.

    Returns:
        The balance; as it was, for a share of the sole, where the servos' motors are not known.
    """
    if chain is None or not balance.over_feet or balance.gives is not None or not mechanism.mass > 0:
        return balance
    try:
        drives = chain_drives(chain, mechanism, p_gain)
    except ServoError:  # of a model whose motor is unknown
        return balance
    return replace(balance, gives=motors_give(mechanism, drives))
