"""RobIK in Blender: what the extension system calls."""

import sys


def register() -> None:
    """Makes properties, operators, panels and handlers known to Blender."""
    from . import operators, panels, scene

    for part in (scene, operators, panels):
        part.register()


def unregister() -> None:
    """Stops whatever runs and takes everything out again, in reverse."""
    from . import operators, panels, scene

    for part in (panels, operators, scene):
        part.unregister()
    # A newer zip brings a newer library. Blender forgets the add-on's own modules by itself, but not those of its wheels.
    for name in [name for name in sys.modules if name.partition(".")[0] == "robik"]:
        del sys.modules[name]
