"""Will It Stand? The bake in physics."""

from bpy.types import Context, Object, PropertyGroup, UILayout

from ...scene.robot.chain import chain_file
from ...scene.robot.parts import parts
from ..tab import TabPanel, jump, line, robot_now, robot_or_hint

ATTEMPT, TOLD = 0.76, 0.64  # of the width: a row of Make It Stand before its button, and what of a line it holds


class ROBIK_PT_stand(TabPanel):
    """The bake in physics, for robots that can fall."""

    bl_idname = "ROBIK_PT_stand"
    bl_label = "Will It Stand?"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether the robot can fall."""
        root = robot_now(context)
        return root is not None and can_fall(root)

    def draw(self, context: Context) -> None:
        layout = self.layout
        root = robot_or_hint(context, layout)
        if root is None:
            return
        result, physics = root.robik.robot.result, root.robik.robot.physics
        _draw_verdict(layout, result)
        if not (result.frames or result.physics):
            return
        row = layout.row(align=True)
        row.operator("robik.test_in_physics", icon="PHYSICS")
        row.operator("robik.make_it_stand")
        layout.operator("robik.rehearse", icon="MOD_TIME")
        column = layout.column(align=True)
        column.prop(physics, "carry_weight")
        column.prop(physics, "tilt_feedback")
        if chain_file(root, context.scene) is None and not context.scene.robik.playing.chain:
            column.prop(physics, "stiffness")
        _draw_attempts(layout, physics)
        _draw_details(layout, result)


def can_fall(root: Object) -> bool:
    """Return whether a robot stands on feet, or floats and is baked; each redraw asks, so nothing is read for it."""
    own = parts(root, ("JOINT", "FRAME"))
    joints = [joint.robik.joint for joint in own["JOINT"]]
    if any(joint.parent is None and joint.type != "free" for joint in joints):
        return False
    return root.robik.robot.result.frames > 0 or any(frame.robik.is_foot for frame in own["FRAME"])


def _draw_verdict(layout: UILayout, result: PropertyGroup) -> None:
    """Draw whether it fell in physics, and where."""
    if not (result.frames or result.physics):
        line(layout, "Bake first; then physics says whether it stands", "INFO")
    elif not result.physics:
        line(layout, "Not tested yet", "INFO")
    else:
        line(layout, result.physics, "CHECKMARK" if result.physics_stands else "ERROR")
        if not result.physics_stands and result.physics_frame:  # below: beside it there is no room for a sentence
            jump(layout.row(), result.physics_frame, why="the robot falls")


def _draw_details(layout: UILayout, result: PropertyGroup) -> None:
    """Draw margins, torques and disturbed trials, folded."""
    details = [text for text in result.physics_more.split("; ") if text]
    if not details:
        return
    header, body = layout.panel("robik_physics", default_closed=True)
    header.label(text="Details")
    if body is not None:
        for text in details:
            line(body, text[0].upper() + text[1:])


def _draw_attempts(layout: UILayout, physics: PropertyGroup) -> None:
    """Draw what Make It Stand has tried; each row can be used."""
    if not physics.attempts:
        return
    header, body = layout.panel("robik_attempts")
    header.label(text="What was tried")
    if body is None:
        return
    column = body.column(align=True)
    for index, attempt in enumerate(physics.attempts):
        row = column.split(factor=ATTEMPT, align=True)
        line(row, f"{attempt.name}: {attempt.told}", "CHECKMARK" if attempt.stands else "X", TOLD)
        icon = "RADIOBUT_ON" if index == physics.chosen else "RADIOBUT_OFF"
        row.operator("robik.use_attempt", text="Use", icon=icon).index = index


CLASSES = (ROBIK_PT_stand,)
