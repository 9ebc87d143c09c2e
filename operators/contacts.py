"""When the feet stand: found, then added to, moved and deleted by hand."""

from bpy.props import IntProperty, StringProperty
from bpy.types import Context, Object, PropertyGroup

from robik.errors import RobikError
from robik.retarget.contacts import find_contacts

from ..scene.bake import sample_tracks
from ..scene.contacts import set_phases, without_contacts
from ..scene.parts import changeable_robot
from ..scene.read_robot import read_robot
from ..scene.sample import frame_range
from ..scene.steps import finish
from .reporting import Reporting


class ROBIK_OT_detect_contacts(Reporting):
    """List the frames in which each foot stands, from its height and speed, to be edited by hand"""

    bl_idname = "robik.detect_contacts"
    bl_label = "Detect Contacts"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Replaces the phases of all feet."""
        root = changeable_robot(context.scene)
        mechanism = read_robot(root)
        frames = frame_range(context.scene, root.robik.robot.bake)
        clip = without_contacts(finish(sample_tracks(context, root, mechanism, frames)))
        contacts = find_contacts(mechanism, clip)
        for target in root.robik.robot.character.targets:
            if target.enabled and target.frame in contacts:
                set_phases(target, contacts[target.frame], frames)
        return {"FINISHED"}


class ROBIK_OT_add_phase(Reporting):
    """Add frames in which this foot stands, from the present one on"""

    bl_idname = "robik.add_phase"
    bl_label = "Add Phase"
    bl_options = {"REGISTER", "UNDO"}

    foot: StringProperty(name="Foot", description="The robot's frame that stands")
    start: IntProperty(name="From", description="First frame; the present one if left out", options={"SKIP_SAVE"})
    end: IntProperty(name="To", description="Last frame; ten later if left out", options={"SKIP_SAVE"})

    def run(self, context: Context) -> set[str]:
        """Adds a row; the rows stay in order."""
        target = _target(changeable_robot(context.scene), self.foot)
        start = self.start if self.properties.is_property_set("start") else context.scene.frame_current
        end = self.end if self.properties.is_property_set("end") else start + 10
        if end < start:
            raise RobikError(f"a phase cannot run from {start} to {end}; it must not end before it begins")
        added = target.stands.add()
        added.start, added.end = start, end
        place = sum(phase.start < start for phase in target.stands)
        target.stands.move(len(target.stands) - 1, place)
        target.contact, target.active_phase = "HAND", place
        return {"FINISHED"}


class ROBIK_OT_remove_phase(Reporting):
    """Delete this phase: the foot does not stand in its frames"""

    bl_idname = "robik.remove_phase"
    bl_label = "Remove Phase"
    bl_options = {"REGISTER", "UNDO"}

    foot: StringProperty(name="Foot", description="The robot's frame that stands")
    index: IntProperty(name="Phase", description="Its place in the list", min=0)

    def run(self, context: Context) -> set[str]:
        """Removes the row."""
        target = _target(changeable_robot(context.scene), self.foot)
        if self.index >= len(target.stands):
            raise RobikError(f"{self.foot!r} has no phase number {self.index + 1}; it has {len(target.stands) or 'none'}")
        target.stands.remove(self.index)
        target.active_phase = max(0, min(self.index, len(target.stands) - 1))
        return {"FINISHED"}


def _target(root: Object, foot: str) -> PropertyGroup:
    """What a foot follows.

    Raises:
        RobikError: lists the feet that follow something.
    """
    targets = {target.frame: target for target in root.robik.robot.character.targets}
    if foot not in targets:
        raise RobikError(f"{foot!r} follows nothing, so it has no phases; there are {', '.join(targets) or 'no targets yet'}")
    return targets[foot]


CLASSES = (ROBIK_OT_detect_contacts, ROBIK_OT_add_phase, ROBIK_OT_remove_phase)
