"""Setting servos up: which one is which, their zeros, and the chain that comes of it.

What goes over the wire is the workshop of their brand's driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from math import tau
from typing import Any

import numpy as np

from ...errors import ServoError
from ..brands.driver import driver_of
from ..brands.registry import BRANDS, DEFAULT, brand_at, brand_of
from ..brands.workshop import Workshop
from ..bus.emergency import Emergency
from ..bus.line import ServoSilent
from ..bus.telemetry import Seen
from ..chain.chain import ServoChain
from ..chain.port_name import device_of
from ..chain.servo import Servo
from ..play.preflight import bus_problems
from ..port.status import PlaySettings

MOVED = 0.09  # [rad], 5°: what counts as moved by hand
USUAL = 2  # baud rates from the factory, at which servos of other brands are asked for
LIMITS = ("position_limits", "velocity_limit", "acceleration_limit")  # of an actuator, whoever turns it


def open_workshop(
    port: str, baud_rate: int | None = None, brand: str = DEFAULT.name, emergency: Emergency | None = None
) -> Workshop:
    """Open a port with whatever servos are behind it.

    It is a device path, a URL that pyserial opens, or the address of a program that has the bus. The baud rate
    [bit/s] is the one for playing if left out. Raise ServoError if there is no such brand, or the port cannot be
    opened.
    """
    made = brand_at(port) or brand_of(brand)
    return driver_of(made.name).open_workshop(port, baud_rate or made.streaming_baud, emergency)


def other_brand(port: str, brand: str, said: Callable[[str], None] = lambda _: None) -> tuple[str, str]:
    """Return the other brand as which servos answer on a port, and what was found, in words; empty if none answers.

    `brand` is the one as which none answers; `said` is called with progress in words. Only the usual baud rates are
    tried.
    """
    others = [made for made in BRANDS.values() if made.name != brand and made.baud_rates and brand_at(port) is None]
    for made in others:
        said(f"asking for servos of {made.title}")
        with closing(open_workshop(port, brand=made.name)) as workshop:
            known = [one for one in workshop.scan(made.likely_bauds[:USUAL]) if one.model]
        if known:
            models = ", ".join(dict.fromkeys(str(one.model) for one in known))
            words = f"no known servo answers as {brand_of(brand).title}, but {len(known)} as {made.title} ({models})"
            return made.name, words
    return "", ""


def rate_warning(chain: ServoChain, settings: PlaySettings) -> str:
    """Return why the chain's baud rate cannot carry the goals, with the arithmetic; empty if it can."""
    return "; ".join(bus_problems(chain, settings.rate, settings.feed_forward))


class Dragging:
    """Search for the servo that is being moved by hand, torque being off, among those seen.

    Raise ServoError if one of them has torque, or does not answer.
    """

    def __init__(self, workshop: Workshop, seen: Iterable[Seen]) -> None:
        self._workshop, self._seen = workshop, list(seen)
        if powered := [one.id for one in self._seen if workshop.has_torque(one)]:
            raise ServoError(f"servo {powered[0]} has its torque on and cannot be moved by hand; turn it off first")
        models = [workshop.brand.models.get(str(one.model)) for one in self._seen]
        self._turns = np.array([np.inf if model is None else model.counts_per_turn for model in models])
        self._before = self._positions()

    def _positions(self) -> np.ndarray:
        """Return where each is (n,) [rad]."""
        return np.array([self._workshop.position(one) for one in self._seen]) * tau / self._turns

    def moved(self) -> Seen | None:
        """Return the servo that has moved the most since the last one was found, once that is plain; None before."""
        now = self._positions()
        away = np.abs(now - self._before)
        k = int(np.argmax(away))
        if away[k] < MOVED:
            return None
        self._before = now
        return self._seen[k]


def zeroed(chain: ServoChain, port: str, values: dict[str, float] | None = None) -> ServoChain:
    """Return the chain with zeros by which the robot, as it stands now by hand, torque off, is in a pose.

    The pose has values by actuator [rad or m], 0 where there is none. Servos that name no port are on `port`.
    Servos of brands that keep the middle of their turn themselves get it here.
    """
    counts: dict[int, int] = {}
    settings: dict[int, tuple[tuple[str, int], ...]] = {}
    for part in chain.parts:
        with closing(open_workshop(part.port or port, chain.baud_rate, part.brand.name)) as workshop:
            try:
                counts |= dict(zip(part.ids, workshop.calibrate(part.servos), strict=True))
                settings |= {servo.id: workshop.zero_settings(servo) for servo in part.servos}
            except ServoSilent as silent:
                raise ServoError(f"the pose cannot be taken: {silent}") from None
    return with_zeros(chain, counts, values, settings)


def with_zeros(
    chain: ServoChain,
    counts: dict[int, int],
    values: dict[str, float] | None = None,
    settings: Mapping[int, tuple[tuple[str, int], ...]] | None = None,
) -> ServoChain:
    """Return the chain with zeros by which servos at these counts, by id, are at these values of their actuators.

    Values are in rad or m, 0 if left out. Servos that are not among the counts keep their zero.
    """
    servos = []
    for servo in chain.servos:
        value = (values or {}).get(servo.actuator, 0.0)
        if (here := counts.get(servo.id)) is not None:
            zero, under = round(here - servo.counts_per_unit * value), (settings or {}).get(servo.id, ())
            servo = replace(servo, zero=zero, zero_settings=under)
        servos.append(servo)
    return replace(chain, servos=tuple(servos))


def turned_round(chain: ServoChain, id: int) -> ServoChain:
    """Return the chain with this servo's direction reversed; raise ServoError if there is no such servo."""
    return edited(chain, id, direction=-_servo(chain, id).direction)


def edited(chain: ServoChain, id: int, /, **entries: Any) -> ServoChain:
    """Return the chain with other entries of this servo. The actuator's limits become those of all servos on it.

    Another brand becomes that of all servos on its port, with the same model. Raise ServoError if there is no such
    servo, or an entry cannot be so.
    """
    servo = _servo(chain, id)
    limits = {name: value for name, value in entries.items() if name in LIMITS}
    brand, model = brand_of(entries.pop("brand", servo.brand)), entries.pop("model", servo.model)
    place, is_other = chain.servos.index(servo), brand.name != servo.brand
    servos = [replace(one, **limits) if one.actuator == servo.actuator else one for one in chain.servos]
    servos[place] = replace(servo, **entries)
    if is_other or model != servo.model:
        port = device_of(servo.port)
        changed = [k for k, one in enumerate(chain.servos) if k == place or (is_other and device_of(one.port) == port)]
        servos = [one.as_model(brand, model) if k in changed else one for k, one in enumerate(servos)]
    return replace(chain, servos=tuple(servos))


def with_another(chain: ServoChain, servo: Servo) -> ServoChain:
    """Return the chain with another servo, whose id becomes the next free one, after those of its actuator."""
    free = next(id for id in range(1, len(chain.servos) + 2) if id not in chain.ids)
    same = [k for k, one in enumerate(chain.servos) if one.actuator == servo.actuator]
    at = same[-1] + 1 if same else len(chain.servos)
    return replace(chain, servos=(*chain.servos[:at], replace(servo, id=free, zero_settings=()), *chain.servos[at:]))


def without(chain: ServoChain, id: int) -> ServoChain:
    """Return the chain without this servo; raise ServoError if there is no such servo, or it is the last."""
    gone = _servo(chain, id)
    return replace(chain, servos=tuple(servo for servo in chain.servos if servo != gone))


def _servo(chain: ServoChain, id: int) -> Servo:
    found = next((servo for servo in chain.servos if servo.id == id), None)
    if found is None:
        raise ServoError(f"the chain has no servo {id}; it has {', '.join(map(str, chain.ids))}")
    return found


def assigned(chain: ServoChain, actuator: str, seen: Seen) -> ServoChain:
    """Return the chain with a servo, as a scan found it, on an actuator.

    The servo that had its id gives it up, and the one that turned the actuator is replaced. Raise ServoError if the
    model is not known, or no servo would be left.
    """
    mine = next((servo for servo in chain.servos if servo.actuator == actuator), None)
    others = [servo for servo in chain.servos if servo.actuator != actuator and servo.id != seen.id]
    if seen.model is None:
        raise ServoError(f"servo {seen.id} is of an unknown model, number {seen.number}, and cannot be played")
    fresh = Servo(actuator, seen.id, brand=DEFAULT.name).as_model(chain.brand, seen.model)
    made = replace(fresh if mine is None else mine.as_model(brand_of(mine.brand), seen.model), id=seen.id)
    if mine is None or mine.id != seen.id:
        made = replace(made, zero_settings=())
    order = {servo.actuator: k for k, servo in enumerate(chain.servos)}
    servos = sorted([*others, made], key=lambda servo: order.get(servo.actuator, len(order)))
    return replace(chain, servos=tuple(servos))
