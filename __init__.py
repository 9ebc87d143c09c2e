"""RobIK in Blender: what the extension system calls."""

import sys


def register() -> None:
    """Makes properties, operators, panels and handlers known to Blender."""
    _drop_an_older_library()
    from . import operators, panels, scene

    for part in (scene, operators, panels):
        part.register()


def unregister() -> None:
    """Stops whatever runs and takes everything out again, in reverse."""
    from . import operators, panels, scene

    for part in (panels, operators, scene):
        part.unregister()


def _drop_an_older_library() -> None:
    """A newer zip brings a newer library. Blender forgets the add-on's own modules by itself, but not those of its wheels.

    Not where the add-on was only switched off and on again: its modules go on with the library that they know.
    """
    if f"{__name__}.scene" not in sys.modules:
        for name in [name for name in sys.modules if name.partition(".")[0] == "robik"]:
            del sys.modules[name]
