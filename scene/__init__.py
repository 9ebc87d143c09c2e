"""Blender data ↔ library."""

from . import live, properties


def register() -> None:
    """Properties first, then the handlers that use them."""
    properties.register()
    live.register()


def unregister() -> None:
    """In reverse."""
    live.unregister()
    properties.unregister()
