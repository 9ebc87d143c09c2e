"""Switches of the overlays."""

from bpy.props import BoolProperty, EnumProperty
from bpy.types import Context, PropertyGroup

from ...translations import OWN
from .views import refresh


def _switched(_group: PropertyGroup, _context: Context) -> None:
    refresh()


class RobikOverlays(PropertyGroup):
    """Overlays of the 3D views, for all robots of a scene."""

    com: BoolProperty(
        name="Centre of Mass",
        description="Show each robot's centre of mass, and where on the ground it stands over",
        update=_switched,
    )
    com_target: BoolProperty(
        name="Mass Target", description="Show where the bake wanted the centre of mass to be", update=_switched
    )
    support: BoolProperty(
        name="Support",
        translation_context=OWN,
        description="Show what each robot stands on: with its centre of mass over this area it does not tip over",
        update=_switched,
    )
    forces: BoolProperty(
        name="Ground Force",
        description=(
            "Show the force with which the ground carries each robot in its bake, at the zero-moment point: outside"
            " the support the robot tips over, whatever its motors do"
        ),
        update=_switched,
    )
    penetration: BoolProperty(
        name="Penetration",
        description="Mark where each robot is in itself, and in the obstacles of its bake, with how deep",
        update=_switched,
    )
    errors: BoolProperty(
        name="Misses",
        description="Show a line from each frame of a robot to where its target wants it, as far as it is off",
        update=_switched,
    )
    joints: BoolProperty(
        name="Joints", description="Show each joint's axes, how far it may go, and where it is now", update=_switched
    )
    diagnosis: BoolProperty(
        name="Diagnosis",
        description="Mark the joints that the last diagnosis found redundant, stuck or askew",
        update=_switched,
    )
    motors: EnumProperty(
        name="Motors",
        description="Mark each motor by a ring that fills and changes its colour",
        items=(
            ("NONE", "None", "No marks"),
            (
                "SPEED",
                "Speed",
                "How much of its speed a motor needs now: red where the motion is faster than the motor",
            ),
            (
                "TORQUE",
                "Torque",
                "How much of its torque a motor needs now: red where the motion asks for more than it has",
            ),
            ("LIMIT", "Reach", "How near a motor is to the end of its range: red at the end"),
            (
                "SINGULAR",
                "Singular",
                "How near a motor is to a pose in which it cannot move what it should, as with a straight knee",
            ),
        ),
        update=_switched,
    )
    contacts: BoolProperty(
        name="Contacts",
        description=(
            "Show when each foot stands as strips in dope sheet and timeline: drag them or their ends, Ctrl-click to"
            " add one, X over one deletes it"
        ),
        update=_switched,
    )
    limits: BoolProperty(
        name="Limits",
        description=(
            "Show in the graph editor where the ranges of selected motors end (red), and where they become tight"
            " (amber)"
        ),
        update=_switched,
    )
    graph: BoolProperty(
        name="Motor Graph",
        description="Show what the chosen robot's motors do against their limits, over the bake",
        update=_switched,
    )
    graph_of: EnumProperty(
        name="Motor Graph Of",
        description="What the graph shows, as a share of each motor's limit",
        items=(
            ("SPEED", "Speed", "Of each motor against what it can"),
            (
                "ACCELERATION",
                "Acceleration",
                "Against the bake's limit; without one against the servos', or reaching the motor's speed in 0.05 s",
            ),
            ("JERK", "Jerk", "Against the bake's limit; without one against reaching that acceleration in 0.02 s"),
            ("TORQUE", "Torque", "That the motion needs, against what the motor has"),
        ),
        update=_switched,
    )


CLASSES = (RobikOverlays,)
