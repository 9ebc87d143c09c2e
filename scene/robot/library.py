"""Robots of other files: what a library override lets change, and what stays the library's."""

from __future__ import annotations

from bpy.types import Object, PropertyGroup, Scene

from ...robik.errors import RobikError
from .parts import check_changeable, chosen_robot, robot_of


def check_own_parts(part: Object | None) -> None:
    """Check that a robot, given by any of its objects, has parts of this file, which can be added and removed."""
    root = robot_of(part)
    if root is None:
        return
    check_changeable(root)
    if root.override_library:
        library = root.override_library.reference.library
        raise RobikError(
            f"robot {root.name!r} is a library override: it can be posed, mapped and baked here, but its parts are"
            f" those of {library.name if library else 'its library'}; change them there, or make the robot local"
            " (Object > Relations > Make Local > All)"
        )


def own_robot(scene: Scene) -> Object:
    """Return the robot that the panels work on, if its parts are this file's."""
    root = chosen_robot(scene)
    check_own_parts(root)
    return root


def library_rows(root: Object, path: str) -> int:
    """Return how many rows of a list of a library override are its library's; `path` leads from the root to the list.

    They come first, and come back when they are removed.
    """
    override = root.override_library
    return len(override.reference.path_resolve(path)) if override and override.reference else 0


def add_row(rows: PropertyGroup, called: str = "") -> PropertyGroup:
    """Return a new row of a list, with a name that no other row has: library overrides keep added rows by it."""
    taken = {row.name for row in rows}
    added = rows.add()
    added.name = next(name for k in range(len(taken) + 1) if (name := f"{called}{k + 1}") not in taken)
    return added


def remove_row(root: Object, path: str, index: int, what: str, instead: str = "") -> None:
    """Remove a row of the list at `path` from the root.

    A RobikError calls the row `what`, if there is none, or it comes from the library of an override; `instead` is
    what can be done with such a row.
    """
    rows = root.path_resolve(path)
    if not 0 <= index < len(rows):
        raise RobikError(f"no {what} is chosen; click one in the list")
    if index < library_rows(root, path):
        raise RobikError(f"this {what} comes from the robot's library file and cannot be removed here{instead}")
    rows.remove(index)
