"""Driver of a servo brand: it opens lines of servos and workshops that set servos up, and simulates servos.

The package of a brand has a module `driver` with a `DRIVER` of the type below. Only the bus, setting up and the
simulator's commands ask for it, so that a chain can be read where nothing is installed that talks to servos.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from ..bus.emergency import Emergency
from ..bus.line import Line
from ..chain.chain import ServoChain
from ..simulator.simulated import OnGoal, SimulatedBus
from .registry import brand_of
from .workshop import Workshop


@dataclass(frozen=True, kw_only=True)
class Driver:
    """Factories of a brand. Those that open a port raise `ServoError`, which says what to do where there is none.

    Attributes:
        open_line: opens a port with a chain behind it, all of this brand. It is given the chain, the name of the port,
            how long a servo is asked again before it counts as gone [s], unless goals wait, and the emergency stop.
        open_workshop: opens a port with unknown servos behind it, by its name, a baud rate [bit/s], and the emergency
            stop of who only turns torque off; None for others.
        simulate: makes simulated servos of a chain, set up for streaming at its baud rate. It is given the chain, the
            time by the servos' clock [s], and what is called with each goal position that a servo takes.
    """

    open_line: Callable[[ServoChain, str, float, Emergency], Line]
    open_workshop: Callable[[str, int, Emergency | None], Workshop]
    simulate: Callable[[ServoChain, float, OnGoal | None], SimulatedBus]


def driver_of(brand: str) -> Driver:
    """Return the driver of a brand.

    Args:
        brand: Name of a brand.

    Returns:
        Its driver.

    Raises:
        ServoError: There is no such brand.
        MissingExtraError: What it needs is not installed; says how to install it.
    """
    return cast(Driver, import_module(f".{brand_of(brand).name}.driver", __package__).DRIVER)
