"""Finding the servos of a chain: who is there, and what keeps them from playing. Reads only."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...errors import ServoError
from ..chain.chain import ServoChain
from ..chain.servo import Servo
from .bus import Bus
from .line import PortGone, ServoSilent
from .telemetry import Found


class Unfit(ServoError):
    """Servos that answer, but cannot play as they are."""


def find(bus: Bus, without: Collection[int] = ()) -> tuple[Found, ...]:
    """Read every servo of the bus's chain but those with ids in `without`, which become its `missing`.

    Raise Unfit, which names all servos that do not answer, are another model, have a hardware error, or cannot
    follow positions; raise ServoError if none answers as the chain says, or an id in `without` is unknown.
    """
    bus.forget()
    found: list[Found] = []
    silent: dict[Servo, str] = {}
    problems: list[str] = []
    left_out = _left_out(bus.chain, without)
    for servo in bus.chain.servos:
        if servo in left_out:
            continue
        try:
            found.append(bus.line_of(servo).inquire(servo))
            problems += [*found[-1].obstacles, *_strayed(servo, found[-1])]
        except PortGone:
            raise
        except ServoSilent as error:
            silent[servo] = str(error)
        except ServoError as error:
            problems.append(str(error))
    if silent and found:
        ids = " ".join(str(servo.id) for servo in silent)
        problems.insert(0, "; ".join(silent.values()) + f"; or play without: --without {ids}, in Blender Play Without")
    elif silent:
        problems = [*silent.values(), *problems]
    if not found and len(bus.chain.servos) > 1:
        hint = f"check their power, the cable, and whether they are set to {bus.chain.baud_rate} baud"
        who = f"none of the {len(bus.chain.servos)} servos answers as the chain says on {bus.name}"
        raise ServoError(f"{who}; {hint}; first: {problems[0]}")
    if problems:
        raise (Unfit if found else ServoError)("; ".join(problems))
    bus.leave_out(left_out)
    return tuple(found)


def _left_out(chain: ServoChain, without: Collection[int]) -> tuple[Servo, ...]:
    unknown = sorted(set(without) - set(chain.ids))
    if unknown:
        raise ServoError(
            f"there is no servo {unknown[0]} to play without; the chain has {', '.join(map(str, chain.ids))}"
        )
    left_out = tuple(servo for servo in chain.servos if servo.id in without)
    if len(left_out) == len(chain.servos):
        raise ServoError("every servo of the chain is to be played without; nobody would be left")
    return left_out


def _strayed(servo: Servo, found: Found) -> list[str]:
    """Say which settings of a servo are others than when its zero was taken."""
    now = dict(found.zero_settings)
    said = [
        f"its {name.replace('_', ' ')} is {now.get(name, 'not known')} instead of {then}"
        for name, then in servo.zero_settings
        if now.get(name) != then
    ]
    if not said:
        return []
    where = f"servo {servo.id} ({servo.actuator}) is not set as when its zero was taken"
    return [f"{where}: {', '.join(said)}; set it back, or take the zeros again"]


def check_inside(
    servos: Sequence[Servo], counts: Sequence[int], limits: Sequence[tuple[int | None, int | None]]
) -> None:
    """Check that servos stand within their own limits [counts], since they take no goal outside.

    A limit that is None does not hold. A ServoError names the first that is outside.
    """
    for servo, goal, (low, high) in zip(servos, counts, limits, strict=True):
        if low is not None and high is not None and not low <= goal <= high:
            raise ServoError(
                f"servo {servo.id} ({servo.actuator}) stands at {goal} counts, outside its own limits {low} to {high};"
                " turn it by hand until it is inside"
            )


def absence(missing: Sequence[Servo]) -> str:
    """Return the servos that are left out in words; empty where none is."""
    return f"played without {names(missing)}, as asked" if missing else ""


def names(servos: Sequence[Servo]) -> str:
    """Return servos by id and actuator, such as "servo 1 (hip), servo 2 (knee)"."""
    return ", ".join(f"servo {servo.id} ({servo.actuator})" for servo in servos)
