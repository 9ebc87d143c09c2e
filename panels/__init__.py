"""What a user sees: the tab RobIK in the 3D view's sidebar, the path from robot to servos from top to bottom."""

import bpy

from . import bake, build, character, contacts, overlays, result, robot, servo_setup, servos

MODULES = (robot, build, character, contacts, bake, result, overlays, servos, servo_setup)


def register() -> None:
    """Panels in their order."""
    for module in MODULES:
        for cls in module.CLASSES:
            bpy.utils.register_class(cls)
    overlays.register()
    bpy.types.VIEW3D_MT_add.append(robot.in_add_menu)


def unregister() -> None:
    """In reverse."""
    bpy.types.VIEW3D_MT_add.remove(robot.in_add_menu)
    overlays.unregister()
    for module in reversed(MODULES):
        for cls in reversed(module.CLASSES):
            bpy.utils.unregister_class(cls)
