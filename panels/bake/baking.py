"""The bake."""

from math import degrees
from typing import cast

from bpy.app.translations import pgettext_iface
from bpy.types import Context, Object, PropertyGroup, Scene, UILayout, UIList

from ...robik.report.shortfall import millimetres
from ...scene.bake import follow
from ...scene.bake.bakes import in_use
from ...scene.character.sampling import ends
from ...scene.long_work.steps import compiling_problem
from ...translations import sentence
from ..tab import FoldedPanel, TabPanel, line, robot_or_hint


class ROBIK_PT_bake(TabPanel):
    """Follow the character over the frame range."""

    bl_idname = "ROBIK_PT_bake"
    bl_label = "Bake"

    def draw(self, context: Context) -> None:
        layout = self.layout
        root = robot_or_hint(context, layout)
        if root is None:
            return
        robot = root.robik.robot
        bake, result = robot.bake, robot.result
        _draw_state(layout, context, root)
        layout.use_property_split, layout.use_property_decorate = True, False
        _draw_range(layout, bake, context.scene)
        layout.prop(bake, "samples", text="Samples / Frame")
        layout.prop(bake, "velocity_share", slider=True)
        layout.prop(bake, "enforce_velocity")
        layout.prop(bake, "soften")
        layout.prop(bake, "hold")
        _draw_look_ahead(layout, bake)
        if result.frames and (bake.enforce_velocity or bake.soften):
            _draw_cost(layout, result)
        layout.prop(bake, "example")
        if bake.example:
            layout.prop(bake, "likeness")
        button = layout.row()
        button.scale_y = 1.4
        button.operator("robik.bake", text="Bake", icon="REC")
        layout.operator("robik.bake_all_actions", icon="ACTION")
        layout.operator("robik.import_motion", icon="IMPORT")
        if result.frames:
            _draw_physics(layout, robot.physics)
        row = layout.row(align=True)
        row.use_property_split = False
        row.prop(robot.follow, "on", toggle=True, icon="PLAY" if not robot.follow.on else "PAUSE")
        row.prop(robot.follow, "tracker", text="")
        if robot.follow.on and (problem := follow.problem(root)):
            line(layout, problem, "INFO")
        elif robot.follow.on and (beyond := _beyond_live(root)):
            line(layout, beyond, "INFO")


def _draw_look_ahead(layout: UILayout, bake: PropertyGroup) -> None:
    """Draw whether all frames are solved at once, and whether they are a loop."""
    layout.prop(bake, "look_ahead")
    if bake.look_ahead:
        layout.prop(bake, "cyclic")
        if bake.cyclic:
            layout.operator("robik.make_loop", text="Make Loop…")


def _draw_limits(layout: UILayout, bake: PropertyGroup) -> None:
    """Draw the limits within which all frames are solved at once."""
    column = layout.column(align=True)
    column.active = bake.look_ahead
    column.prop(bake, "acceleration")
    column.prop(bake, "jerk")
    if not (bake.acceleration and bake.jerk):
        line(column, "0: as the motors'", "INFO")
    column.prop(bake, "torque")
    column.prop(bake, "zero_moment")


def _beyond_live(root: Object) -> str:
    """Return what a bake does that Follow Live cannot, which knows no future; empty where that is nothing."""
    robot = root.robik.robot
    if robot.bake.keep_apart and robot.follow.tracker != "STATE":
        return "Only At Once keeps bodies apart live"
    if follow.leans(root):
        return "Live leans over a foot once the other lifts; a bake plans that ahead, so hips differ"
    if robot.bake.look_ahead:
        return "Live knows no future; the bake looks ahead"
    return ""


def _draw_physics(layout: UILayout, physics: PropertyGroup) -> None:
    """Draw the tests in physics, and what they and servos are told."""
    row = layout.row(align=True)
    row.operator("robik.test_in_physics", icon="PHYSICS")
    row.operator("robik.make_it_stand")
    row = layout.row(align=True)
    row.use_property_split = False
    row.prop(physics, "carry_weight")
    row.prop(physics, "tilt_feedback")


def _draw_state(layout: UILayout, context: Context, root: Object) -> None:
    """Draw what a bake lacks, or what the last one took, and whether the solver is not ready for it."""
    result = root.robik.robot.result
    if not any(t.enabled for t in root.robik.robot.character.targets):
        line(layout, "Add a target under Character first", "INFO")
    elif result.frames:
        line(
            layout,
            sentence(
                "Last bake: {count} samples in {seconds:.1f} s; next {estimate}",
                count=result.frames,
                seconds=result.seconds,
                estimate=_estimate(context, root),
            ),
            "INFO",
        )
    else:
        line(layout, sentence("Ready to bake {count} samples", count=_samples(context, root)), "INFO")
    if problem := compiling_problem():
        line(layout, problem, "ERROR")


class ROBIK_PT_bake_advanced(FoldedPanel):
    """Weights of the solver."""

    bl_idname = "ROBIK_PT_bake_advanced"
    bl_parent_id = "ROBIK_PT_bake"

    def draw(self, context: Context) -> None:
        layout = self.layout
        root = robot_or_hint(context, layout)
        if root is None:
            return
        layout.use_property_split, layout.use_property_decorate = True, False
        bake = root.robik.robot.bake
        for name in ("joint_limits", "keep_apart", "obstacles", "stillness", "posture"):
            layout.prop(bake, name)
        _draw_limits(layout, bake)
        for name in ("velocity_weight", "velocity_limit", "catch_up"):
            layout.prop(bake, name)


class ROBIK_UL_bakes(UIList):
    """Bakes that are kept, and how many of their samples meet their targets; the dot says which one moves the robot."""

    bl_idname = "ROBIK_UL_bakes"

    def draw_item(
        self,
        context: Context,
        layout: UILayout,
        data: PropertyGroup,
        item: PropertyGroup,
        icon: int,
        active: PropertyGroup,
        active_name: str,
        index: int,
    ) -> None:
        row = layout.row(align=True)
        used = in_use(cast(Object, data.id_data)) == index
        row.operator(
            "robik.use_bake", text="", icon="RADIOBUT_ON" if used else "RADIOBUT_OFF", emboss=False
        ).index = index
        halves = row.split(factor=0.62, align=True)
        halves.prop(item, "name", text="", emboss=False)
        if item.result.frames:
            halves.label(text=f"{item.result.frames - item.result.missed}/{item.result.frames}")


class ROBIK_PT_bakes(FoldedPanel):
    """The bakes that are kept."""

    bl_idname = "ROBIK_PT_bakes"
    bl_parent_id = "ROBIK_PT_bake"
    bl_label = "Bakes"

    def draw(self, context: Context) -> None:
        layout = self.layout
        root = robot_or_hint(context, layout)
        if root is None:
            return
        robot = root.robik.robot
        if not robot.bakes:
            line(layout, "Bakes are kept here", "INFO")
            return
        row = layout.row()
        row.template_list("ROBIK_UL_bakes", "", robot, "bakes", robot, "chosen_bake", rows=3)
        row.operator("robik.remove_bake", text="", icon="REMOVE").index = robot.chosen_bake
        layout.prop(robot.bake, "keep")
        layout.prop(robot.bake, "corrections")


def _draw_range(layout: UILayout, bake: PropertyGroup, scene: Scene) -> None:
    """Draw the frames that are baked: the scene's, or a range of their own."""
    layout.prop(bake, "use_range", text="Own Range")
    column = layout.column(align=True)
    source, names = (bake, ("start", "end")) if bake.use_range else (scene, ("frame_start", "frame_end"))
    column.prop(source, names[0], text="Frames")
    column.prop(source, names[1], text="To")
    if bake.use_range:
        column.prop(bake, "blend")


def _draw_cost(layout: UILayout, result: PropertyGroup) -> None:
    """Draw the cost of keeping the motors' speeds."""
    if not result.held_back:
        if any(row.velocity_limit > 0 for row in result.actuators):
            line(layout, "Keeping to it costs nothing", "CHECKMARK")
        else:
            line(layout, "No motor's speed is known, so none is kept: set it with Add Motor", "INFO")
        return
    cost, turn = millimetres(result.speed_cost), degrees(result.speed_turn)
    line(layout, sentence("Costs up to {distance}, {angle:.1f}°", distance=cost, angle=turn), "INFO")
    row = layout.row(align=True)
    row.label(text=sentence("{count} samples lag", count=result.held_back))
    row.operator("robik.go_to_frame", text=str(result.speed_frame), icon="PLAY").frame = result.speed_frame


def _samples(context: Context, root: Object) -> int:
    """Return how many the next bake will have."""
    bake = root.robik.robot.bake
    start, end = ends(context.scene, bake)
    return max((end - start) * bake.samples + 1, 1)


def _estimate(context: Context, root: Object) -> str:
    """Return how long the next bake will take, by the last one; its solver is ready by then."""
    result = root.robik.robot.result
    seconds = (result.seconds - result.preparing) / result.frames * _samples(context, root)
    return sentence("about {seconds:.0f} s", seconds=seconds) if seconds >= 1 else pgettext_iface("less than 1 s")


CLASSES = (ROBIK_UL_bakes, ROBIK_PT_bake, ROBIK_PT_bakes, ROBIK_PT_bake_advanced)
