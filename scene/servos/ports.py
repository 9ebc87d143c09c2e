"""Ports to choose from: those that there are, and those of programs that have a bus."""

from __future__ import annotations

from bpy.types import Context, PropertyGroup

from ...robik.errors import RobikError
from ...robik.servo.brands.registry import BRANDS
from ...robik.servo.port.thread import SIMULATED


def suggested(settings: PropertyGroup, context: Context, typed: str) -> list[str]:
    """Return names of ports for what was typed; other names can be typed, too."""
    try:
        from ...robik.servo.bus.serial_port import devices

        there = devices()
    except RobikError:  # nothing is installed that talks to servos
        there = []
    return [SIMULATED, *there, *(brand.usual_port for brand in BRANDS.values() if brand.usual_port)]
