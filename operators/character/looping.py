"""Loops of a character's motion."""

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty
from bpy.types import Context, Event

from ...scene.character.automap import the_rig
from ...scene.character.looping import make_loop
from ...scene.robot.parts import changeable_robot
from ..reporting import Reporting

BLEND = 0.5  # [s], unless the user says otherwise


class ROBIK_OT_make_loop(Reporting):
    """Lead the end of the character's motion into its beginning, in a copy of its action, for Bake > Cyclic"""

    bl_idname = "robik.make_loop"
    bl_label = "Make Loop"
    bl_options = {"REGISTER", "UNDO"}

    blend: IntProperty(
        name="Blend", description="Frames over which the end is led into the beginning", default=15, min=1, soft_max=250
    )
    way: EnumProperty(
        name="Way",
        description="What becomes of the character's way over the ground",
        items=(
            ("IN_PLACE", "In Place", "It is left out, evenly along the motion: the last frame is the first one again"),
            ("KEEP", "Keep", "It stays: the character goes on from where it has come"),
        ),
        default="IN_PLACE",
    )
    scene_range: BoolProperty(
        name="Scene Range", description="Let the scene begin and end with the loop, as Cyclic needs it", default=True
    )

    def invoke(self, context: Context, event: Event) -> set[str]:
        """Propose half a second."""
        if not self.properties.is_property_set("blend"):
            self.blend = max(1, round(BLEND * context.scene.render.fps / context.scene.render.fps_base))
        return self.execute(context)

    def run(self, context: Context) -> set[str]:
        """Make a copy of the action, and let it move the character."""
        context.view_layer.update()  # so that the rig is where it was put
        rig = the_rig(context, changeable_robot(context.scene))
        made = make_loop(rig, self.blend, self.way == "IN_PLACE")
        if self.scene_range:
            context.scene.frame_start, context.scene.frame_end = made.first, made.last
        context.scene.frame_set(context.scene.frame_current)
        bpy.context.view_layer.update()
        way = f"; its way of {made.way:.2f} m is left out" if self.way == "IN_PLACE" and made.way > 0.01 else ""
        self.report({"INFO"}, f"{rig.name}: {made.action!r}, a loop from frame {made.first} to {made.last}{way}")
        return {"FINISHED"}


CLASSES = (ROBIK_OT_make_loop,)
