"""Rules of a control table: what may be written, and which bits count, from the e-Manual's pages of the X series."""

from __future__ import annotations

from math import inf

from .registers import Refusal, Registers
from .table import FARTHEST, Entry
from .wire import LIMIT_ERROR, RANGE_ERROR, RESULT_FAIL

SINGLE_TURN, EXTENDED, CURRENT_BASED = POSITION_MODES = 3, 4, 5
GOAL_LIMITS = {"goal_pwm": "pwm_limit", "goal_current": "current_limit", "goal_velocity": "velocity_limit"}
GOALS = (*GOAL_LIMITS, "goal_position")
TRIPPED = -1  # of the bus watchdog


def check_value(registers: Registers, entry: Entry, value: int) -> None:
    """Raise Refusal where an entry does not take a value now."""
    is_tripped = registers.get("bus_watchdog") == TRIPPED
    if is_tripped and (entry.name in GOALS or (entry.name == "bus_watchdog" and value)):
        raise Refusal(RANGE_ERROR)
    if entry.name == "bus_watchdog" and value == TRIPPED:
        raise Refusal(RANGE_ERROR)
    if entry.name == "operating_mode" and value not in registers.model.modes:
        raise Refusal(RANGE_ERROR)
    if entry.name == "torque_enable" and value == 1 and is_shut_down(registers):
        raise Refusal(RESULT_FAIL)
    low, high = _limits(registers, entry.name)
    if not low <= value <= high:
        raise Refusal(LIMIT_ERROR)
    if not entry.low <= value <= entry.high:
        raise Refusal(RANGE_ERROR)


def _limits(registers: Registers, name: str) -> tuple[float, float]:
    """Return the lowest and highest value that other entries allow."""
    if name in GOAL_LIMITS:
        most = registers.get(GOAL_LIMITS[name])
        return -most, most
    if name != "goal_position":
        return -inf, inf
    if registers.get("operating_mode") == SINGLE_TURN:
        return registers.get("min_position_limit"), registers.get("max_position_limit")
    return -FARTHEST, FARTHEST


def is_shut_down(registers: Registers) -> bool:
    """Return whether a hardware error keeps torque off until the next start."""
    return bool(registers.get("hardware_error_status") & registers.get("shutdown"))


def is_newer(registers: Registers) -> bool:
    """Return whether the firmware knows startup configuration, torque by a goal, backups and fast reads."""
    return registers.get("firmware_version") >= registers.model.newer


def is_set(registers: Registers, entry: str, bit: int) -> bool:
    """Return whether a bit of an entry is set that newer firmware knows."""
    return is_newer(registers) and bool(registers.get(entry) & bit)
