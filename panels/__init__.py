"""Panels: the tab RobIK in the 3D view's sidebar, the path from robot to servos from top to bottom."""

import bpy

from . import manual, menu
from .bake import bakes, baking, result, settings, stand
from .balance import centre_of_mass, contacts
from .character import mapping
from .overlay import switches
from .robot import build, overview
from .servos import hand, play, setup, tuning
from .show import live_character, perform

MODULES = (
    overview, build, mapping, live_character, centre_of_mass, contacts, baking, result, settings, bakes, stand,
    switches, play, perform, tuning, hand, setup, menu,
)  # fmt: skip


def register() -> None:
    """Panels in their order, and the manual."""
    for module in MODULES:
        for cls in module.CLASSES:
            bpy.utils.register_class(cls)
    switches.register()
    bpy.types.VIEW3D_MT_add.append(overview.in_add_menu)
    bpy.types.VIEW3D_MT_editor_menus.append(menu.in_header)
    bpy.types.DOPESHEET_HT_header.append(play.in_timeline)
    manual.register()


def unregister() -> None:
    """In reverse."""
    manual.unregister()
    bpy.types.DOPESHEET_HT_header.remove(play.in_timeline)
    bpy.types.VIEW3D_MT_editor_menus.remove(menu.in_header)
    bpy.types.VIEW3D_MT_add.remove(overview.in_add_menu)
    switches.unregister()
    for module in reversed(MODULES):
        for cls in reversed(module.CLASSES):
            bpy.utils.unregister_class(cls)
