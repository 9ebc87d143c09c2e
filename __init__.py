"""RobIK in Blender: what the extension system calls."""


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
