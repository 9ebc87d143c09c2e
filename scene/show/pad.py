"""Gamepads in Blender, whose Python may have the packages for them."""

from __future__ import annotations

import sys
from pathlib import Path

import bpy

from ...robik.errors import MissingExtraError, RobikError
from ...robik.show.gamepad import Gamepad

PACKAGES = "pysdl2 pysdl2-dll"


def gamepad() -> Gamepad:
    """Return the gamepad; a RobikError says how the packages that it needs get into Blender."""
    try:
        return Gamepad()
    except MissingExtraError:
        folder = Path(bpy.utils.user_resource("SCRIPTS")) / "modules"
        command = f'"{sys.executable}" -m pip install --target "{folder}" {PACKAGES}'
        raise RobikError(
            f"a gamepad needs packages that RobIK does not bring; in a terminal: {command}; then start Blender again"
        ) from None
