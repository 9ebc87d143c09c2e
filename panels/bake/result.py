"""The result of a bake: how well the robot followed, how hard its motors work, and where to look."""

from collections.abc import Callable
from math import degrees

from bpy.app.translations import pgettext_iface
from bpy.types import Context, PropertyGroup, UILayout

from ...robik.motions.penetration import DEEP
from ...robik.report.quality import CONTACT_MET
from ...robik.report.shortfall import ORIENTATION_MET, POSITION_MET, millimetres
from ...scene.bake.freshness import is_out_of_date
from ...scene.bake.result import status
from ...translations import sentence
from ..tab import FoldedPanel, jump, line, robot_now, robot_or_hint
from .verdict import torn_target

MOST = 6  # rows of frames that fall short
CLOSED = 1e-6  # of what counts as met: loops open by less are closed
TIGHT = 0.9  # share of a motor's speed or range from which it is shown as hard at work
TELLING = 1.0  # [mm] by which a margin may fall short of what was asked without a word
NAME, BUTTON = 0.34, 0.73  # where the columns end


class ROBIK_PT_result(FoldedPanel):
    """Result of the bake."""

    bl_idname = "ROBIK_PT_result"
    bl_parent_id = "ROBIK_PT_bake"
    bl_label = "Result"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether there is one."""
        root = robot_now(context)
        return root is not None and root.robik.robot.result.frames > 0

    def draw(self, context: Context) -> None:
        layout = self.layout
        root = robot_or_hint(context, layout)
        if root is None:
            return
        result = root.robik.robot.result
        if is_out_of_date(root, context.scene):
            line(layout, sentence("Before it was edited: {verdict}", verdict=status(result)))
        elif more := status(result).partition("; ")[2]:  # the panel above says how it begins
            line(layout, more[0].upper() + more[1:])
        if torn := torn_target(root):
            told = (
                "Balance pulls {target} elsewhere: tick Hips Give Way there, or set its weights for Position X and Y"
                " to 0"
            )
            line(layout, sentence(told, target=torn), "INFO")
        if result.beyond_robot:
            line(layout, result.beyond_robot[0].upper() + result.beyond_robot[1:], "ERROR")
        _draw_hold(layout, result)
        _draw_kept(layout, result)
        if result.looked_ahead:
            _draw_look_ahead(layout, result)
        _draw_held_back(layout, result)
        _draw_short(layout, result)
        _draw_targets(layout, result)
        _draw_all_motors(layout, result)
        _draw_loops(layout, result)
        _draw_buttons(layout, context)


def _draw_hold(layout: UILayout, result: PropertyGroup) -> None:
    """Say where the motors do not determine the robot."""
    if result.hold:
        line(layout, result.hold[0].upper() + result.hold[1:], "ERROR")
        jump(layout.row(), result.hold_frame, why="the motors have least hold of the robot")


def _draw_held_back(layout: UILayout, result: PropertyGroup) -> None:
    """Say how many samples the motors' speeds keep from their targets."""
    if result.held_back:
        row = layout.split(factor=BUTTON, align=True)
        row.label(text=sentence("{count} samples lag", count=result.held_back))
        jump(row, result.speed_frame, why="Keeping the motors' speeds costs most here")


def _draw_loops(layout: UILayout, result: PropertyGroup) -> None:
    line(layout, sentence("Baked in {seconds:.1f} s", seconds=result.seconds))
    if result.residual <= CLOSED * result.met:
        line(layout, sentence("Loops closed; {time:.2f} ms per sample", time=result.milliseconds))
        return
    told = "Loops open by {gap:.3f} mm at worst; {time:.2f} ms per sample"
    line(layout, sentence(told, gap=1e3 * result.residual, time=result.milliseconds))


def _draw_buttons(layout: UILayout, context: Context) -> None:
    """Draw the overlay's switch, and what can be done with the result."""
    row = layout.row(align=True)
    row.prop(context.scene.robik.overlays, "graph", toggle=True, icon="FCURVE")
    row.operator("robik.report", text="Report…")
    row = layout.row(align=True)
    row.operator("robik.rebuild_bodies")
    row.operator("robik.reduce_keys")
    row = layout.row(align=True)
    row.operator("robik.slow_down", text="Slow Down…")
    row.operator("robik.calm_vibration", text="Calm Vibration…")
    row = layout.row(align=True)
    row.operator("robik.judge_penetration", text="Penetration")
    row.operator("robik.export_motion", text="Export Motion…")
    layout.operator("robik.export_scene", text="MuJoCo Scene…")


def _draw_kept(layout: UILayout, result: PropertyGroup) -> None:
    """Say what was kept of the bake before: changes by hand, and frames outside an own range."""
    if result.corrected:
        line(layout, "With what was changed by hand on the bake before", "INFO")
    if not result.rest:
        return
    split = layout.split(factor=BUTTON, align=True) if result.rest_missed else layout
    line(split, result.rest, "ERROR" if result.rest_missed else "INFO")
    if result.rest_missed:
        jump(split, result.rest_frame, why="the worst of the frames that were not baked")


def _draw_look_ahead(layout: UILayout, result: PropertyGroup) -> None:
    """Draw the changes that come from solving all frames at once."""
    if result.beyond:
        line(layout, sentence("Cannot be kept: {what}", what=result.beyond), "ERROR")
    if result.ended_early:
        line(layout, "Looking ahead ended before the optimum", "INFO")
    column = layout.column(align=True)
    column.label(text="Frame by frame → looking ahead:")
    before, after = millimetres(result.mean_before), millimetres(result.mean_distance)
    column.label(text=sentence("mean distance {before} → {after}", before=before, after=after))
    told = "acceleration {before:.0f} → {after:.0f} °/s²; jerk {jerk:.0f} °/s³"
    peaks = {"before": result.acceleration_before, "after": result.acceleration, "jerk": result.jerk}
    column.label(text=sentence(told, **{name: degrees(peak) for name, peak in peaks.items()}))


def _draw_short(layout: UILayout, result: PropertyGroup) -> None:
    """Draw the frames that fall short, the worst first."""
    column = layout.column(align=True)
    for row in result.short[:MOST]:
        where = f"{row.first}" if row.first == row.last else f"{row.first} – {row.last}"
        split = column.split(factor=BUTTON, align=True)
        text = split.row()
        text.alert = True
        text.label(text=f"{where}: {row.name.partition(';')[0]}")
        jump(split, row.frame, why=row.name)
    if len(result.short) > MOST:
        column.label(text=sentence("and {count} more, marked in the timeline", count=len(result.short) - MOST))


def _draw_targets(layout: UILayout, result: PropertyGroup) -> None:
    """Mean and worst distance of each target, and of the centre of mass."""
    header, body = layout.panel("robik_targets")
    header.label(text="Targets: mean, worst [mm]")
    if body is None:
        return
    column = body.column(align=True)
    for row in result.targets:
        angle = f", {degrees(row.orientation_error):.1f}°"
        if row.is_angle:
            _draw_angle(column, row)
            continue
        _draw_target(column, row.name, row.position_mean, row.position_error, angle, row.frame, result.met)
    if result.has_com:
        _draw_target(column, "Mass centre", result.com_mean, result.com_error, "", result.com_frame, result.met)
    if result.has_margin:
        _draw_margin(column, result)
    if result.has_contacts:
        _draw_contacts(column, result)
    if result.moved:
        text = sentence("{count} moved, {distance}", count=result.moved, distance=millimetres(result.moved_most))
        _draw_said(column, "Footholds", text, True, result.moved_frame, result.moved_why)
    if result.limbs:
        line(column, sentence("limbs off in direction: {limbs}", limbs=result.limbs))
    for row in result.penetration:
        _draw_penetration(column, row)
    if result.sunk > result.met:
        _draw_said(
            column,
            "Ground",
            sentence("{depth} into it", depth=millimetres(result.sunk)),
            True,
            result.sunk_frame,
            "A foot lands late and goes through the floor",
        )


def _draw_target(column: UILayout, name: str, mean: float, worst: float, more: str, frame: int, met: float) -> None:
    text = f"{_digits(1e3 * mean)}, {_digits(1e3 * worst)}{more}"
    why = sentence("{name} is {distance} off", name=pgettext_iface(name), distance=f"{millimetres(worst)}{more}")
    _draw_row(column, name, text, worst > met, frame, why)


def _draw_angle(column: UILayout, row: PropertyGroup) -> None:
    mean, worst = degrees(row.orientation_mean), degrees(row.orientation_error)
    is_bad = row.orientation_error > ORIENTATION_MET
    why = sentence("{name} is {distance} off", name=row.name, distance=f"{worst:.1f}°")
    _draw_row(column, row.name, f"{mean:.1f}°, {worst:.1f}°", is_bad, row.frame, why)


def _digits(value: float) -> str:
    """To a hundredth, or three digits, which is what the column holds."""
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f}"


def _draw_margin(column: UILayout, result: PropertyGroup) -> None:
    asked, kept = 1e3 * result.margin_asked, 1e3 * result.margin
    is_less = kept < asked - TELLING
    if kept < 0:
        text = sentence("tips, {beyond:.0f} mm, {share:.0f} %", beyond=-kept, share=100 * result.tipping)
    elif is_less:
        text = sentence("{kept:.0f} mm inside of {asked:.0f}", kept=kept, asked=asked)
    else:
        text = sentence("{kept:.0f} mm inside", kept=kept)
    why: str = pgettext_iface("The ground's force is nearest to the edge of the feet, or furthest beyond it")
    if is_less:
        told = "{asked:.0f} mm were asked for: the foot is too short for the shift, or stands for too little time"
        why += f"; {sentence(told, asked=asked)}"
    _draw_said(column, "Balance", text, kept < 0, result.margin_frame, why)
    if result.flight:
        aloft = "No foot stands: nothing can hold the robot up until it lands"
        _draw_said(
            column, "In the air", sentence("{count} samples", count=result.flight), True, result.flight_frame, aloft
        )


def _draw_contacts(column: UILayout, result: PropertyGroup) -> None:
    text = f"{_digits(result.slide)} mm/s, {_digits(1e3 * result.contact_off)}"
    is_late = result.contact_off > CONTACT_MET / POSITION_MET * result.met
    told = "A contact is {distance} from where it is held; all slide by {speed:.2g} mm/s"
    why = sentence(told, distance=millimetres(result.contact_off), speed=result.slide)
    _draw_said(column, "Contacts", text, is_late, result.contact_frame, why)


def _draw_penetration(column: UILayout, row: PropertyGroup) -> None:
    if not row.where:
        column.label(text=sentence("{name}: nowhere", name=row.name))
        return
    told = "{place} by {depth}; more than a millimetre in {share:.2g} % of the samples"
    why = sentence(told, place=row.where, depth=millimetres(row.depth), share=100 * row.share)
    text = f"{millimetres(row.depth)}, {100 * row.share:.2g} %"
    _draw_said(column, row.name, text, row.depth > DEEP, row.frame, why[0].upper() + why[1:])


def _draw_said(column: UILayout, name: str, text: str, is_bad: bool, frame: int, why: str) -> None:
    """Draw what takes words, in one label: columns would cut it."""
    row = column.split(factor=BUTTON, align=True)
    label = row.row()
    label.alert = is_bad
    label.label(text=f"{pgettext_iface(name)}: {text}", translate=False)
    jump(row, frame, why=why)


def _draw_row(column: UILayout, name: str, text: str, is_bad: bool, frame: int, why: str) -> None:
    row = column.split(factor=BUTTON, align=True)
    names = row.split(factor=NAME / BUTTON, align=True)
    names.alert = is_bad
    names.label(text=name)
    names.label(text=text)
    jump(row, frame, why=why)


def _speed(row: PropertyGroup) -> tuple[float, str, int] | None:
    """Return a motor's peak speed against its limit: the bar, its text, the frame."""
    if row.unit == "rad":  # the title says degrees
        peak, limit = f"{degrees(row.peak_velocity):.0f}", f"{degrees(row.velocity_limit):.0f}"
    else:
        peak, limit = f"{1e3 * row.peak_velocity:.0f}", f"{1e3 * row.velocity_limit:.0f} mm/s"
    if row.velocity_limit <= 0:
        return 0.0, peak if row.unit == "rad" else f"{peak} mm/s", row.frame
    return row.peak_velocity / row.velocity_limit, sentence("{peak} of {limit}", peak=peak, limit=limit), row.frame


def _torque(row: PropertyGroup) -> tuple[float, str, int] | None:
    """Return a motor's largest torque against that at rest, likewise, with its heat."""
    unit = "" if row.unit == "rad" else " N"
    if row.effort <= 0:
        return 0.0, f"{row.torque:.2f}{unit}", row.torque_frame
    told = "{torque:.2f} of {effort:.1f}{unit}, heat {heat:.0f} %"
    text = sentence(told, torque=row.torque, effort=row.effort, unit=unit, heat=100 * row.heat)
    beyond = f", {sentence('{count} beyond', count=row.beyond)}" if row.beyond else ""
    return row.torque / row.effort, text + beyond, row.torque_frame


def _reach(row: PropertyGroup) -> tuple[float, str, int] | None:
    """Return how far a motor goes through its range, likewise; None where it has no limits."""
    if not row.has_limits:
        return None
    return row.used, f"{degrees(row.room):.1f}°" if row.unit == "rad" else f"{1e3 * row.room:.1f} mm", row.room_frame


def _draw_all_motors(layout: UILayout, result: PropertyGroup) -> None:
    """Draw how hard each motor works: its speed, its torque once that is known, its room."""
    _draw_motors(layout, "Speed [°/s]", "speed", result, _speed)
    if any(row.torque for row in result.actuators):
        _draw_motors(layout, "Torque [N m]", "torque", result, _torque)
    _draw_motors(layout, "Room to the limit", "reach", result, _reach)


def _draw_motors(
    layout: UILayout,
    title: str,
    key: str,
    result: PropertyGroup,
    load: Callable[[PropertyGroup], tuple[float, str, int] | None],
) -> None:
    """Draw a bar for each motor, the hardest at work first; ▶ goes to where it is."""
    header, body = layout.panel(f"robik_{key}", default_closed=key != "speed")
    rows = sorted(((found, row.name) for row in result.actuators if (found := load(row)) is not None), reverse=True)
    header.label(text=title)
    over = sum(share > 1.0 + 1e-6 for (share, _, _), _ in rows)
    if over:
        header.label(text=sentence("{count} beyond", count=over), icon="ERROR")
    if body is None:
        return
    column = body.column(align=True)
    for (share, text, frame), name in rows:
        row = column.split(factor=BUTTON, align=True)
        names = row.split(factor=NAME / BUTTON, align=True)
        names.alert = share > 1.0 + 1e-6
        names.label(text=name)
        names.progress(factor=min(share, 1.0), text=text)
        jump(row, frame, name, f"{name}: {text}", tight=share > TIGHT)


CLASSES = (ROBIK_PT_result,)
