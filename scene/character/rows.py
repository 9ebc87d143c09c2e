"""Rows of the list of targets: removing all, also in a library override."""

from __future__ import annotations

from bpy.types import Object

from ..robot.library import library_rows

TARGETS = "robik.robot.character.targets"


def clear_targets(root: Object) -> None:
    """Remove all targets; those from the library of an override are switched off."""
    targets, kept = root.robik.robot.character.targets, library_rows(root, TARGETS)
    for index in reversed(range(kept, len(targets))):
        targets.remove(index)
    for target in targets:
        target.enabled = False
