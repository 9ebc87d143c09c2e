"""Manual of each operator and property: what *Online Manual* opens in their menus on the right mouse button."""

from __future__ import annotations

from pathlib import Path

import bpy

from ..operators import MODULES as OPERATORS
from ..scene.properties import CLASSES as PROPERTIES

FOLDER = Path(__file__).resolve().parents[1] / "docs"
START = "panels.html"
# What a feature's operators and properties are explained in.
PAGES = {
    "robot": "panels.html#robot",
    "importing": "import.html",
    "character": "panels.html#character",
    "balance": "panels.html#balance",
    "bake": "panels.html#bake",
    "overlay": "panels.html#overlays",
    "servos": "servos.html",
}


def links() -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the manual's links as Blender asks for them.

    The beginning of each address, and patterns of names with the rest of it.
    """
    operators = {
        f"bpy.ops.{cls.bl_idname}": cls.__module__
        for module in OPERATORS
        for cls in module.CLASSES
        if issubclass(cls, bpy.types.Operator)
    }
    properties = {f"bpy.types.{cls.__name__}.*": cls.__module__ for cls in PROPERTIES}
    pages = [
        (name.lower(), PAGES.get(module.split(".")[-2], START)) for name, module in (operators | properties).items()
    ]
    return f"{FOLDER.as_uri()}/", tuple(pages)


def register() -> None:
    """Make the manual known to Blender."""
    bpy.utils.register_manual_map(links)


def unregister() -> None:
    """Take it out again."""
    bpy.utils.unregister_manual_map(links)
