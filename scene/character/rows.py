"""Rows of the list of targets: removing them, also in a library override."""

from __future__ import annotations

from bpy.types import Object

from ...robik.errors import RobikError
from ..robot.library import library_rows

TARGETS = "robik.robot.character.targets"


def remove_target(root: Object, index: int) -> None:
    """Remove one target.

    Raises:
        RobikError: it comes from the library of an override.
    """
    if index < library_rows(root, TARGETS):
        raise RobikError("this target comes from the robot's library file and cannot be removed here; switch it off")
    root.robik.robot.character.targets.remove(index)


def clear_targets(root: Object) -> None:
    """Remove all targets; those from the library of an override are switched off."""
    targets, kept = root.robik.robot.character.targets, library_rows(root, TARGETS)
    for index in reversed(range(kept, len(targets))):
        targets.remove(index)
    for target in targets:
        target.enabled = False
