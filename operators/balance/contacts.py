"""Contact phases of the feet: detected, then added, moved and deleted by hand."""

import bpy
from bpy.props import IntProperty, StringProperty
from bpy.types import Context, Event, Object, PropertyGroup

from ...robik.errors import RobikError
from ...robik.feet.finding import find_contacts
from ...robik.steps import finish
from ...scene.bake.surroundings import read_surroundings
from ...scene.bake.target_clip import sample_tracks
from ...scene.balance.centre_of_mass import read_balance
from ...scene.balance.contacts import phases_in, put_phase, set_rows
from ...scene.character.mapping import read_mapping
from ...scene.character.sampling import frame_range
from ...scene.overlay import contact_strips, editors
from ...scene.overlay.contact_strips import Grip, Place, grip_at, lanes, moved, place_in
from ...scene.robot.parts import changeable_robot, chosen_robot
from ...scene.robot.reading import read_moving_parts
from ..reporting import Reporting

LENGTH = 10  # of a phase that is added [frames]


class ROBIK_OT_detect_contacts(Reporting):
    """List the frames in which each foot stands, from its height and speed, to be edited by hand"""

    bl_idname = "robik.detect_contacts"
    bl_label = "Detect Contacts"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Replace the phases of all feet."""
        root = changeable_robot(context.scene)
        mechanism = read_moving_parts(root)
        frames = frame_range(context.scene, root.robik.robot.bake)
        mapping = read_mapping(root, mechanism)
        balance = read_balance(root, mechanism, mapping)
        around = read_surroundings(root, context.scene, mapping.targets)
        clip = finish(sample_tracks(context, mechanism, mapping, balance, frames, around))
        contacts = find_contacts(mechanism, clip)
        for target in root.robik.robot.character.targets:
            if target.enabled and target.leads and target.frame in contacts:
                set_rows(target, phases_in(contacts[target.frame], frames))
        editors.redraw()
        return {"FINISHED"}


class ROBIK_OT_add_phase(Reporting):
    """Add frames in which this foot stands, from the present one on; in the timeline's strips: Ctrl and a click"""

    bl_idname = "robik.add_phase"
    bl_label = "Add Phase"
    bl_options = {"UNDO"}

    foot: StringProperty(name="Foot", description="The robot's frame that stands")
    start: IntProperty(name="From", description="First frame; the present one if left out", options={"SKIP_SAVE"})
    end: IntProperty(name="To", description="Last frame; ten later if left out", options={"SKIP_SAVE"})

    def invoke(self, context: Context, event: Event) -> set[str]:
        """Begin the phase at the mouse, in the timeline's strips, and end it before the next one."""
        if context.space_data.type != "DOPESHEET_EDITOR":
            return self.execute(context)
        grip = _grip(context, event)
        if grip is None or grip.phase is not None:
            return {"PASS_THROUGH"}
        _take_over(context, grip)
        self.foot, self.start = grip.lane.foot, round(grip.frame)
        self.end = min([self.start + LENGTH, *(start - 1 for start, _ in grip.lane.phases if start > self.start)])
        return self.execute(context)

    def run(self, context: Context) -> set[str]:
        """Add a row; the rows stay in order."""
        target = _target(changeable_robot(context.scene), self.foot)
        start = self.start if self.properties.is_property_set("start") else context.scene.frame_current
        end = self.end if self.properties.is_property_set("end") else start + LENGTH
        put_phase(target, (start, end))
        editors.redraw()
        return {"FINISHED"}


class ROBIK_OT_move_phase(Reporting):
    """Let this phase begin and end elsewhere; in the strips of the timeline by dragging it, or one of its ends"""

    bl_idname = "robik.move_phase"
    bl_label = "Move Phase"
    bl_options = {"UNDO", "BLOCKING"}  # no redo panel: it would lie over the strips

    foot: StringProperty(name="Foot", description="The robot's frame that stands")
    index: IntProperty(name="Phase", description="Its place in the list", min=0)
    start: IntProperty(name="From", description="First frame in which the foot stands")
    end: IntProperty(name="To", description="Last frame in which the foot stands")

    _grip: Grip
    _place: Place

    def run(self, context: Context) -> set[str]:
        """Change the row; the rows stay in order."""
        target = _target(changeable_robot(context.scene), self.foot)
        _check_phase(target, self.index)
        put_phase(target, (self.start, self.end), self.index)
        editors.redraw()
        return {"FINISHED"}

    def invoke(self, context: Context, event: Event) -> set[str]:
        """Take hold of the phase under the mouse."""
        grip, place = _grip(context, event), place_in(context)
        if grip is None or grip.phase is None or place is None:
            return {"PASS_THROUGH"}
        self._grip, self._place = grip, place
        self.foot, self.index = grip.lane.foot, grip.phase
        self.start, self.end = grip.lane.phases[grip.phase]
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> set[str]:
        """Move the phase with the mouse until the button is released."""
        held = self._grip.lane.phases[self._grip.phase]
        if event.type in ("ESC", "RIGHTMOUSE"):
            self._show(context, held)
            return {"CANCELLED"}
        by = self._place.frame(event.mouse_region_x) - self._grip.frame
        self.start, self.end = moved(held, self._grip.moves, by)
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            self._show(context, held)
            if (self.start, self.end) == held:
                return {"CANCELLED"}
            _take_over(context, self._grip)
            return self.execute(context)
        self._show(context, (self.start, self.end))
        return {"RUNNING_MODAL"}

    def cancel(self, context: Context) -> None:
        """Forget the dragged phase where Blender ends the operator, for example by opening another file."""
        contact_strips.dragged = None

    def _show(self, context: Context, phase: tuple[int, int]) -> None:
        """Show the phase as it would be; nothing is changed before the button is released."""
        contact_strips.dragged = None if phase == self._grip.lane.phases[self._grip.phase] else (self._grip, phase)
        context.area.tag_redraw()


class ROBIK_OT_remove_phase(Reporting):
    """Delete this phase: the foot does not stand in its frames"""

    bl_idname = "robik.remove_phase"
    bl_label = "Remove Phase"
    bl_options = {"UNDO"}

    foot: StringProperty(name="Foot", description="The robot's frame that stands")
    index: IntProperty(name="Phase", description="Its place in the list", min=0)

    def invoke(self, context: Context, event: Event) -> set[str]:
        """Take the phase under the mouse, in the timeline's strips."""
        if context.space_data.type != "DOPESHEET_EDITOR":
            return self.execute(context)
        grip = _grip(context, event)
        if grip is None or grip.phase is None:
            return {"PASS_THROUGH"}
        _take_over(context, grip)
        self.foot, self.index = grip.lane.foot, grip.phase
        return self.execute(context)

    def run(self, context: Context) -> set[str]:
        """Remove the row."""
        target = _target(changeable_robot(context.scene), self.foot)
        _check_phase(target, self.index)
        target.stands.remove(self.index)
        target.active_phase = max(0, min(self.index, len(target.stands) - 1))
        editors.redraw()
        return {"FINISHED"}


def _target(root: Object, foot: str) -> PropertyGroup:
    """Return the target that a foot follows; a RobikError lists the feet that follow one."""
    targets = {target.frame: target for target in root.robik.robot.character.targets if target.leads}
    if foot not in targets:
        raise RobikError(
            f"{foot!r} follows nothing, so it has no phases; there are {', '.join(targets) or 'no targets yet'}"
        )
    return targets[foot]


def _check_phase(target: PropertyGroup, index: int) -> None:
    """Raise RobikError unless a foot has a phase of this index."""
    if index >= len(target.stands):
        raise RobikError(f"{target.frame!r} has no phase number {index + 1}; it has {len(target.stands) or 'none'}")


def _grip(context: Context, event: Event) -> Grip | None:
    """Return what of the strips is under the mouse, while they are shown."""
    place = place_in(context) if context.scene.robik.overlays.contacts else None
    if place is None:
        return None
    try:
        shown = lanes(chosen_robot(context.scene))
    except RobikError:  # none is chosen: there are no strips
        return None
    return grip_at(shown, place, event.mouse_region_x, event.mouse_region_y)


def _take_over(context: Context, grip: Grip) -> None:
    """Store phases that the bake has found as the user's own."""
    if not grip.lane.by_hand:
        set_rows(_target(changeable_robot(context.scene), grip.lane.foot), grip.lane.phases)


def register_keys() -> None:
    """Register the mouse's actions on the strips; elsewhere in these editors nothing changes."""
    keys = bpy.context.window_manager.keyconfigs.addon
    if keys is None:  # Blender has no window
        return
    keymap = keys.keymaps.new("Dopesheet", space_type="DOPESHEET_EDITOR")
    items = keymap.keymap_items
    made = [
        items.new(ROBIK_OT_move_phase.bl_idname, "LEFTMOUSE", "PRESS"),
        items.new(ROBIK_OT_add_phase.bl_idname, "LEFTMOUSE", "PRESS", ctrl=True),
        items.new(ROBIK_OT_remove_phase.bl_idname, "X", "PRESS"),
        items.new(ROBIK_OT_remove_phase.bl_idname, "DEL", "PRESS"),
    ]
    _keys.extend((keymap, item) for item in made)


def unregister_keys() -> None:
    """Unregister the mouse's actions on the strips."""
    while _keys:
        keymap, item = _keys.pop()
        keymap.keymap_items.remove(item)


CLASSES = (ROBIK_OT_detect_contacts, ROBIK_OT_add_phase, ROBIK_OT_move_phase, ROBIK_OT_remove_phase)
_keys: list[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]] = []
