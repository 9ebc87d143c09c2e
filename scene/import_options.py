"""How a robot's file is read: kept on the scene for the next import, and on the robot for reading its file again."""

import shlex
from pathlib import Path

import bpy
from bpy.props import EnumProperty, StringProperty
from bpy.types import PropertyGroup

from robik.errors import RobikError

BASES = (
    ("auto", "As the File Says", "A free joint in the file, or bodies that no joint ties to the world, float; all else stands fixed"),
    ("fixed", "Fixed", "The robot is held where it stands, as an arm on a table"),
    ("floating", "Floating", "The robot can go anywhere, as a walking one must; a URDF cannot say so itself"),
)
BASE = {"name": "Base", "description": "What holds the robot", "items": BASES, "default": "auto"}
PACKAGES = {
    "name": "Packages",
    "description": "Folders of ROS packages where package:// may lead, with a semicolon between; else only the file's own folder is read",
}
ARGUMENTS = {
    "name": "Arguments",
    "description": "Of a xacro file, with spaces between, as name:=value; those that are not given have their defaults",
}


class RobikImport(PropertyGroup):
    base: EnumProperty(**BASE)
    packages: StringProperty(**PACKAGES)
    arguments: StringProperty(**ARGUMENTS)  # a robot's; for the next import of a scene they say nothing


def xacro_arguments(text: str) -> dict[str, str]:
    """Values by name of a text like `name:=value other:='two words'`.

    Raises:
        RobikError: it is not such a text.
    """
    try:
        pairs = [part.partition(":=") for part in shlex.split(text)]
    except ValueError:
        pairs = [("", "", "")]
    if any(not name or not sign for name, sign, _ in pairs):
        raise RobikError(f"arguments: {text!r} is not like name:=value other:='two words'")
    return {name: value for name, _, value in pairs}


def package_folders(text: str) -> tuple[Path, ...]:
    """The folders in a list with semicolons.

    Raises:
        RobikError: one is not there.
    """
    folders = tuple(Path(bpy.path.abspath(part.strip())) for part in text.split(";") if part.strip())
    for folder in folders:
        if not folder.is_dir():
            raise RobikError(f"packages: there is no folder {folder}")
    return folders
