"""Inquiry at connecting: is the servo there, is it what the chain says, and does it say the same twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from ....errors import ServoError
from ...bus.line import ServoSilent
from ...bus.telemetry import Found
from ...chain.servo import Servo
from .reading import Addressed, Reader, named

_Found = TypeVar("_Found", bound=Found)
MOST = 6  # times settings are read again: on a busy machine each time may have its late answer


def find(reader: Reader, servo: Servo, baud_rate: int) -> int:
    """Return the model number of a servo, 0 where the brand's ping does not say it.

    Raise ServoSilent if it does not answer.
    """
    number = reader.ping(servo.id)
    if number is None:
        hint = f"check its power, its cable, its id, and that it is set to {baud_rate} baud"
        raise ServoSilent(f"{named(servo)} does not answer on {reader.name}; {hint}")
    return number


def another_model(servo: Servo, model: str | None, number: int) -> ServoError:
    """Return the error that a servo is of another model than the chain says; `model` is None for an unknown one."""
    found = model or f"of an unknown model, number {number}"
    return ServoError(f"{named(servo)} is {found}, not {servo.model} as the chain says")


def read_surely(reader: Reader, servo: Addressed, read: Callable[[], _Found]) -> _Found:
    """Read a servo's settings until it says the same twice.

    On a bad line an answer may be garbage, or belong to an earlier question: what is still to come is waited for,
    and longer each time. `read` reads them once. Raise ServoError if it says something else every time.
    """
    before = read()
    for times in range(1, MOST + 1):
        now = read()
        if _lasting(now) == _lasting(before):
            return now
        before = now
        reader.drain(times)
    raise ServoError(f"{named(servo)} says something else every time on {reader.name}; check the cable and its plugs")


def _lasting(found: Found) -> Found:
    return replace(found, position=0, volts=0.0, celsius=0.0)
