"""Operators: gather what a user has chosen, call the scene or the library, report."""

import bpy

from ..scene.servos import leader, timeline
from ..scene.servos.play import LEAVING, disconnect
from ..scene.show import live_character, performing
from . import command_line
from .bake import baking, motion_import, physics, polish, retiming
from .balance import contacts
from .character import handles, looping, mapping, performers, targets
from .robot import build, gallery, import_file
from .servos import hand, play, setup, tuning
from .show import live_character as hearing
from .show import perform

MODULES = (
    import_file, gallery, build, performers, looping, targets, handles, mapping, contacts, baking, motion_import,
    physics, polish, retiming, play, hand, setup, tuning, perform, hearing,
)  # fmt: skip
_commands: list[object] = []


def register() -> None:
    """Operators, menu entries, keys and the command."""
    for module in MODULES:
        for cls in module.CLASSES:
            bpy.utils.register_class(cls)
    contacts.register_keys()
    bpy.types.TOPBAR_MT_file_import.append(import_file.menu_entry)
    bpy.types.TOPBAR_MT_file_import.append(performers.import_entry)
    bpy.types.TOPBAR_MT_file_export.append(build.menu_entry)
    bpy.types.VIEW3D_MT_armature_add.append(performers.menu_entry)
    bpy.app.handlers.load_pre.append(play.before_load)
    bpy.app.handlers.undo_post.append(timeline.after_undo)
    bpy.app.handlers.redo_post.append(timeline.after_undo)
    bpy.app.handlers.undo_post.append(performing.after_undo)
    bpy.app.handlers.redo_post.append(performing.after_undo)
    bpy.app.handlers.undo_post.append(live_character.after_undo)
    bpy.app.handlers.redo_post.append(live_character.after_undo)
    bpy.app.handlers.frame_change_pre.append(timeline.before_frame)
    _commands.append(bpy.utils.register_cli_command(command_line.COMMAND, command_line.run))


def unregister() -> None:
    """In reverse; servos that still move are stopped."""
    timeline.disarm()
    performing.end()
    live_character.end()
    leader.disconnect()
    disconnect(LEAVING)
    bpy.app.handlers.load_pre.remove(play.before_load)
    bpy.app.handlers.undo_post.remove(timeline.after_undo)
    bpy.app.handlers.redo_post.remove(timeline.after_undo)
    bpy.app.handlers.undo_post.remove(performing.after_undo)
    bpy.app.handlers.redo_post.remove(performing.after_undo)
    bpy.app.handlers.undo_post.remove(live_character.after_undo)
    bpy.app.handlers.redo_post.remove(live_character.after_undo)
    bpy.app.handlers.frame_change_pre.remove(timeline.before_frame)
    bpy.utils.unregister_cli_command(_commands.pop())
    contacts.unregister_keys()
    bpy.types.VIEW3D_MT_armature_add.remove(performers.menu_entry)
    bpy.types.TOPBAR_MT_file_import.remove(performers.import_entry)
    bpy.types.TOPBAR_MT_file_import.remove(import_file.menu_entry)
    bpy.types.TOPBAR_MT_file_export.remove(build.menu_entry)
    for module in reversed(MODULES):
        for cls in reversed(module.CLASSES):
            bpy.utils.unregister_class(cls)
