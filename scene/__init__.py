"""Blender data ↔ library."""


def register() -> None:
    """Properties."""
    from . import properties

    properties.register()


def unregister() -> None:
    """In reverse."""
    from . import properties

    properties.unregister()
