"""Options of reading a robot's file: on the scene for the next import, on the robot for reading its file again."""

from bpy.props import EnumProperty, StringProperty
from bpy.types import PropertyGroup

from ...translations import OWN

BASES = (
    (
        "auto",
        "As the File Says",
        "A free joint in the file, or bodies that no joint ties to the world, float; all else stands fixed",
    ),
    ("fixed", "Fixed", "The robot is held where it stands, as an arm on a table"),
    (
        "floating",
        "Floating",
        "The robot can go anywhere, as a walking one must; a URDF cannot say so; Make Foot sees to it too",
    ),
)
BASE = {
    "name": "Base",
    "translation_context": OWN,
    "description": "What holds the robot",
    "items": BASES,
    "default": "auto",
}
PACKAGES = {
    "name": "Packages",
    "description": (
        "Folders of ROS packages where package:// may lead, with a semicolon between; else only the file's own folder"
        " is read"
    ),
}
ARGUMENTS = {
    "name": "Arguments",
    "description": "Of a xacro file, with spaces between, as name:=value; those that are not given have their defaults",
}


class RobikImport(PropertyGroup):
    """Options of an import."""

    base: EnumProperty(**BASE)
    packages: StringProperty(**PACKAGES)
    arguments: StringProperty(**ARGUMENTS)  # a robot's; for the next import of a scene they say nothing


CLASSES = (RobikImport,)
