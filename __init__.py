"""RobIK in Blender: what the extension system calls."""

import os

import bpy

COMPILED = "ROBIK_CACHE_DIR"  # where the library keeps compiled code, also in processes that are started


def register() -> None:
    """Make properties, operators, panels and handlers known to Blender."""
    os.environ.setdefault(COMPILED, bpy.utils.extension_path_user(__package__, path="compiled"))
    from . import operators, panels, scene, translations

    for part in (scene, operators, panels, translations):
        part.register()


def unregister() -> None:
    """Stop whatever runs and take everything out again, in reverse."""
    from . import operators, panels, scene, translations

    for part in (translations, panels, operators, scene):
        part.unregister()
