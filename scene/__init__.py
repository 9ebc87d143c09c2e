"""Blender data ↔ library."""

import bpy

from . import migration, properties
from .bake import follow
from .character import renaming
from .importing import gallery
from .overlay import views
from .robot import duplicate, posing


def register() -> None:
    """Properties first, then the handlers that use them."""
    if hasattr(
        bpy.utils, "expose_bundled_modules"
    ):  # Blender's own pxr, where Blender is a Python module (4.4 and later)
        bpy.utils.expose_bundled_modules()
    properties.register()
    posing.register()
    duplicate.register()
    renaming.register()
    migration.register()
    views.register()
    follow.register()
    gallery.register()


def unregister() -> None:
    """In reverse."""
    gallery.unregister()
    follow.unregister()
    views.unregister()
    migration.unregister()
    renaming.unregister()
    duplicate.unregister()
    posing.unregister()
    properties.unregister()
