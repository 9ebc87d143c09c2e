"""Blender data ↔ library."""

import bpy

from . import follow, live, migration, overlay, properties


def register() -> None:
    """Properties first, then the handlers that use them."""
    if hasattr(bpy.utils, "expose_bundled_modules"):  # Blender's own pxr, where Blender is a Python module (4.4 and later)
        bpy.utils.expose_bundled_modules()
    properties.register()
    live.register()
    migration.register()
    overlay.register()
    follow.register()


def unregister() -> None:
    """In reverse."""
    follow.unregister()
    overlay.unregister()
    migration.unregister()
    live.unregister()
    properties.unregister()
