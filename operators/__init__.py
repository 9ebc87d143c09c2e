"""What a user can do: gather, call, report."""

import bpy

from . import bake, import_robot, targets

MODULES = (import_robot, targets, bake)


def register() -> None:
    """Operators and menu entries."""
    for module in MODULES:
        for cls in module.CLASSES:
            bpy.utils.register_class(cls)
    bpy.types.TOPBAR_MT_file_import.append(import_robot.menu_entry)


def unregister() -> None:
    """In reverse."""
    bpy.types.TOPBAR_MT_file_import.remove(import_robot.menu_entry)
    for module in reversed(MODULES):
        for cls in reversed(module.CLASSES):
            bpy.utils.unregister_class(cls)
