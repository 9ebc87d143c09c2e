"""What a user can do: gather, call, report."""

import bpy

from ..scene import play
from . import bake, build, character, command_line, contacts, import_robot, mapping, polish, servo_setup, servos, targets

MODULES = (import_robot, build, character, targets, mapping, contacts, bake, polish, servos, servo_setup)
_commands: list[object] = []


def register() -> None:
    """Operators, menu entries, keys and the command."""
    for module in MODULES:
        for cls in module.CLASSES:
            bpy.utils.register_class(cls)
    contacts.register_keys()
    bpy.types.TOPBAR_MT_file_import.append(import_robot.menu_entry)
    bpy.types.TOPBAR_MT_file_import.append(character.import_entry)
    bpy.types.TOPBAR_MT_file_export.append(build.menu_entry)
    bpy.types.VIEW3D_MT_armature_add.append(character.menu_entry)
    bpy.app.handlers.load_pre.append(servos.before_load)
    _commands.append(bpy.utils.register_cli_command(command_line.COMMAND, command_line.run))


def unregister() -> None:
    """In reverse; servos that still move are stopped."""
    play.disconnect(play.LEAVING)
    bpy.app.handlers.load_pre.remove(servos.before_load)
    bpy.utils.unregister_cli_command(_commands.pop())
    contacts.unregister_keys()
    bpy.types.VIEW3D_MT_armature_add.remove(character.menu_entry)
    bpy.types.TOPBAR_MT_file_import.remove(character.import_entry)
    bpy.types.TOPBAR_MT_file_import.remove(import_robot.menu_entry)
    bpy.types.TOPBAR_MT_file_export.remove(build.menu_entry)
    for module in reversed(MODULES):
        for cls in reversed(module.CLASSES):
            bpy.utils.unregister_class(cls)
