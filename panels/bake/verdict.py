"""The verdict on a bake: one line, the worst cause, and one thing to do about it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import degrees

from bpy.types import Context, Object, PropertyGroup, UILayout

from ...robik.report.shortfall import millimetres
from ...scene.bake.freshness import is_out_of_date
from ...scene.bake.result import status, verdict
from ...scene.balance.settings import OVER_FEET
from ...scene.robot.parts import parts
from ...translations import sentence
from ..tab import jump, line

Remedy = Callable[[UILayout, PropertyGroup], object]  # draws a button or a switch for the robot's settings


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Cause for which a bake falls short.

    Attributes:
        told: it in words.
        frame: where it is worst; None where it is no matter of a frame.
        remedy: what to do about it; None where nothing here helps.
    """

    told: str
    frame: int | None = None
    remedy: Remedy | None = None


def draw_verdict(layout: UILayout, context: Context, root: Object) -> None:
    """Draw whether the robot's bake is good, else its worst cause and a remedy."""
    robot = root.robik.robot
    result = robot.result
    if not result.frames:
        if robot.bakes:
            line(layout, _capital(status(result)), "INFO")
        return
    if is_out_of_date(root, context.scene):
        line(layout, "Edited since it was judged", "ERROR")
        layout.operator("robik.judge_again", icon="FILE_REFRESH")
        return
    line(layout, _capital(verdict(result)), "ERROR" if falls_short(result) else "CHECKMARK")
    if not falls_short(result) or (cause := worst_cause(root)) is None:
        return
    line(layout, _capital(cause.told), "BLANK1")
    if cause.frame is None and cause.remedy is None:
        return
    row = layout.row(align=True)
    if cause.frame is not None:
        jump(row, cause.frame, why=cause.told)
    if cause.remedy is not None:
        cause.remedy(row, robot)


def falls_short(result: PropertyGroup) -> bool:
    """Return whether a sample falls short by more than nearly, or the motors do not determine it."""
    return bool(result.hold) or (bool(result.short) and (result.too_fast > 0 or result.missed > result.nearly))


def worst_cause(root: Object) -> Cause | None:
    """Return the cause that counts most of those for which a robot's bake falls short; None where none is known."""
    return next(_causes(root), None)


def _causes(root: Object) -> Iterator[Cause]:
    """Yield causes, those first that no better following would help."""
    robot = root.robik.robot
    result = robot.result
    if result.hold:
        yield Cause(told=result.hold, frame=result.hold_frame)
    if result.beyond_robot:
        yield Cause(told=result.beyond_robot, frame=_worst_frame(result), remedy=_fit)
    yield from _causes_of_speed(robot)
    if torn := torn_target(root):
        told = sentence("Balance pulls {target} elsewhere", target=torn)
        yield Cause(told=told, frame=_worst_frame(result), remedy=None if robot.balance.give_way else _give_way)
    if result.beyond:
        yield Cause(told=sentence("Cannot be kept: {what}", what=result.beyond))
    if result.short:
        worst = result.worst or result.short[0].name.partition(";")[0]
        yield Cause(told=worst, frame=_worst_frame(result))


def _causes_of_speed(robot: PropertyGroup) -> Iterator[Cause]:
    """Yield what motors are too slow for."""
    result = robot.result
    if result.too_fast:
        fastest = max(result.actuators, key=_share_of_speed)
        told = sentence("{count} are too fast for a motor", count=result.too_fast)
        yield Cause(told=told, frame=fastest.frame, remedy=_slow_down if robot.bake.enforce_velocity else _keep_speeds)
    if result.held_back and result.held_back >= result.missed:
        cost, turn = millimetres(result.speed_cost), degrees(result.speed_turn)
        told = sentence("Keeping motors' speeds costs up to {distance}, {angle:.1f}°", distance=cost, angle=turn)
        yield Cause(told=told, frame=result.speed_frame, remedy=_slow_down if robot.bake.look_ahead else _look_ahead)


def _share_of_speed(row: PropertyGroup) -> float:
    return row.peak_velocity / row.velocity_limit if row.velocity_limit > 0 else 0.0


def _worst_frame(result: PropertyGroup) -> int | None:
    """Return the frame that misses its targets most, by the distance; None where all are met."""
    rows = [(row.position_error, row.frame) for row in result.targets]
    if not result.short:
        return None
    worst = max(rows, default=(0.0, result.short[0].frame))
    return int(worst[1] if worst[0] > result.met else result.short[0].frame)


def torn_target(root: Object) -> str:
    """Return the target that balance keeps the robot from reaching, if one is also to be followed sideways.

    Else empty.
    """
    robot = root.robik.robot
    if robot.balance.mode == "OFF" or robot.result.missed <= robot.result.held_back:  # by motors' speeds
        return ""
    feet = {f.robik.label for f in parts(root)["FRAME"] if f.robik.is_foot}
    others = [t for t in robot.character.targets if t.enabled and t.leads and t.frame not in feet]
    gives_way = robot.balance.mode in OVER_FEET and robot.balance.give_way  # the first of them, the hips
    free = {t.frame for t in others[int(gives_way) :] if any(t.position_weight[:2])}
    missed = [row for row in robot.result.targets if row.name in free and row.position_error > robot.result.met]
    return max(missed, key=lambda row: row.position_error).name if missed else ""


def _fit(row: UILayout, _robot: PropertyGroup) -> None:
    row.operator("robik.fit_character")


def _slow_down(row: UILayout, _robot: PropertyGroup) -> None:
    row.operator("robik.slow_down", text="Slow Down…")


def _keep_speeds(row: UILayout, robot: PropertyGroup) -> None:
    row.prop(robot.bake, "enforce_velocity")


def _look_ahead(row: UILayout, robot: PropertyGroup) -> None:
    row.prop(robot.bake, "look_ahead")


def _give_way(row: UILayout, robot: PropertyGroup) -> None:
    row.prop(robot.balance, "give_way")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
