"""The bake: its frames, one button, following live, and whether it came out well."""

from bpy.app.translations import pgettext_iface
from bpy.types import Context, Menu, Object, PropertyGroup, Scene, UILayout

from ...scene.bake import follow
from ...scene.character.sampling import ends
from ...scene.long_work.steps import compiling_problem
from ...translations import sentence
from ..tab import TabPanel, line, robot_now, robot_or_hint
from .verdict import draw_verdict

LARGE = 1.6  # times the height of other buttons


class ROBIK_MT_bake(Menu):
    """Bakes of now and then: other motions than the character's one, and loops."""

    bl_idname = "ROBIK_MT_bake"
    bl_label = "More to Bake"

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.operator_context = "INVOKE_DEFAULT"
        layout.operator("robik.bake_all_actions", icon="ACTION")
        layout.operator("robik.import_motion", icon="IMPORT")
        layout.separator()
        layout.operator("robik.make_loop", text="Make Loop…")
        if (root := robot_now(context)) is not None:
            layout.prop(root.robik.robot.bake, "cyclic")


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
        _draw_state(layout, context, root)
        _draw_range(layout, robot.bake, context.scene)
        _draw_bake(layout)
        _draw_follow(layout, root, robot.follow)
        draw_verdict(layout, context, root)


def _draw_state(layout: UILayout, context: Context, root: Object) -> None:
    """Draw what a bake lacks, or how much the next one has to do, and whether the solver is not ready for it."""
    if not any(t.enabled for t in root.robik.robot.character.targets):
        line(layout, "Add a target under Character first", "INFO")
        layout.operator("robik.import_motion", icon="IMPORT")  # which needs none
    elif root.robik.robot.result.frames:
        text = sentence(
            "{count} samples to bake, {estimate}", count=_samples(context, root), estimate=_estimate(context, root)
        )
        line(layout, text, "INFO")
    else:
        line(layout, sentence("Ready to bake {count} samples", count=_samples(context, root)), "INFO")
    if problem := compiling_problem():
        line(layout, problem, "ERROR")


def _draw_range(layout: UILayout, bake: PropertyGroup, scene: Scene) -> None:
    """Draw the frames that are baked, the scene's or a range of their own, and whether all are solved at once."""
    split = layout.column()
    split.use_property_split, split.use_property_decorate = True, False
    split.prop(bake, "use_range", text="Own Range")
    column = split.column(align=True)
    source, names = (bake, ("start", "end")) if bake.use_range else (scene, ("frame_start", "frame_end"))
    column.prop(source, names[0], text="Frames")
    column.prop(source, names[1], text="To")
    if bake.use_range:
        column.prop(bake, "blend")
    split.prop(bake, "look_ahead")
    if bake.cyclic and bake.look_ahead:  # set in the menu; what acts is seen
        split.prop(bake, "cyclic")


def _draw_bake(layout: UILayout) -> None:
    """Draw the button that is pressed each time, and what is done now and then."""
    row = layout.row(align=True)
    row.scale_y = LARGE
    row.operator("robik.bake", text="Bake", icon="REC")
    row.menu(ROBIK_MT_bake.bl_idname, text="", icon="DOWNARROW_HLT")


def _draw_follow(layout: UILayout, root: Object, settings: PropertyGroup) -> None:
    """Draw following live, and what keeps the robot from it or from being where a bake would put it."""
    row = layout.row(align=True)
    row.prop(settings, "on", toggle=True, icon="PLAY" if not settings.on else "PAUSE")
    row.prop(settings, "tracker", text="")
    if settings.on and (told := follow.problem(root) or _beyond_live(root)):
        line(layout, told, "INFO")


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


CLASSES = (ROBIK_MT_bake, ROBIK_PT_bake)
