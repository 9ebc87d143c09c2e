"""Format number of what RobIK keeps with a robot in a .blend file."""

from bpy.types import Object

FORMAT = 5


def too_new(root: Object) -> bool:
    """Return whether a later version of RobIK has saved the robot.

    It may use properties that this one does not know.
    """
    return bool(root.robik.robot.format > FORMAT)
