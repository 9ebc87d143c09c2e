"""Gamepads in Blender, whose Python may have the packages for them."""

from __future__ import annotations

import sys
from pathlib import Path

import bpy

from ...robik.errors import MissingExtraError, RobikError
from ...robik.show.gamepad import Gamepad

PACKAGES = "pysdl2 pysdl2-dll"


def gamepad() -> Gamepad:
    """Return the gamepad.

    Raises:
        RobikError: The packages that it needs are not in Blender; says how they get there.
    """
    try:
        return Gamepad()
    except MissingExtraError:
        folder = Path(bpy.utils.user_resource("SCRIPTS")) / "modules"
        command = f'"{sys.executable}" -m pip install --target "{folder}" {PACKAGES}'
        raise RobikError(
            f"a gamepad needs packages that RobIK does not bring; in a terminal: {command}; then start Blender again"
        ) from None
