"""The servos: connect, hold, play, stop."""

from math import isfinite

import bpy
from bpy.types import Context, Header, PropertyGroup, UILayout

from ...robik.servo.port.status import PlayState, ServoReading, Status, torque_words
from ...scene.robot.sliders import shown
from ...scene.servos import play, timeline
from ...translations import sentence
from ..tab import FoldedPanel, TabPanel, line, robot_or_hint

INDENT = 0.1  # share of the width, of what stands below a name
ICONS = {PlayState.FAULT: "ERROR", PlayState.CLOSED: "UNLINKED"}


class ROBIK_PT_servos(TabPanel):
    """Play the baked motion on the robot itself."""

    bl_idname = "ROBIK_PT_servos"
    bl_label = "Servos"

    def draw(self, context: Context) -> None:
        layout = self.layout
        root = robot_or_hint(context, layout)
        if root is None:
            return
        status = play.status()
        line(layout, status.message[:1].upper() + status.message[1:], ICONS.get(status.state, "LINKED"))
        settings = context.scene.robik
        is_open = play.is_open()
        if is_open and status.missing:
            line(layout, status.missing[:1].upper() + status.missing[1:], "ERROR")
        if is_open and status.adapter:
            line(layout, status.adapter[:1].upper() + status.adapter[1:], "ERROR")
        column = layout.column()
        column.enabled = not is_open
        column.use_property_split, column.use_property_decorate = True, False
        column.prop(settings, "port")
        column.prop(settings, "servos", text="Servo File")
        row = layout.row(align=True)
        if is_open:
            row.operator("robik.disconnect_servos", icon="UNLINKED")
        else:
            row.operator("robik.connect_servos", icon="LINKED")
        row.operator("robik.preflight")
        if is_open:
            _draw_playing(layout, settings.playing, status, play.has_motion(root))
        elif status.may_have_torque:
            _draw_stop(layout)


def _draw_playing(layout: UILayout, settings: PropertyGroup, status: Status, baked: bool) -> None:
    """Torque, play, live, the timeline, stop."""
    _draw_transport(layout, status, baked)
    _draw_timeline(layout)
    _draw_stop(layout)
    line(
        layout,
        sentence("{state} (read back)", state=torque_words(status.servos).capitalize()),
        "LOCKED" if status.torque else "UNLOCKED",
    )
    if status.strain:
        line(layout, sentence("Slower: {why}", why=status.strain), "TEMP")
    if status.righting:
        line(layout, sentence("Tilt feedback: {state}", state=status.righting), "ORIENTATION_GIMBAL")
    if status.recording:
        line(layout, status.recording[:1].upper() + status.recording[1:], "ERROR")
    row = layout.row(align=True)
    row.prop(settings, "ghost", toggle=True)
    row.prop(settings, "mirror", toggle=True)


def _draw_transport(layout: UILayout, status: Status, baked: bool) -> None:
    """Draw what can be done now: each button keeps its place, so that a double click presses no other one."""
    row = layout.row(align=True)
    row.scale_y = 1.4
    if timeline.is_armed():
        row.operator("robik.play_with_timeline", icon="PLAY_SOUND", depress=True)
    elif status.state in (PlayState.PLAYING, PlayState.PAUSED):
        paused = status.state is PlayState.PAUSED
        text = sentence("{at:.1f} of {duration:.1f} s", at=status.at, duration=status.duration)
        row.progress(factor=status.progress, text=text)
        row.operator(
            "robik.pause_servos", text="Go On" if paused else "Pause", icon="PLAY" if paused else "PAUSE"
        ).on = not paused
    elif not status.state.is_moving:
        holds = status.state is PlayState.HOLDING  # after a fault, torque on is the way on
        _button(row, not holds).operator("robik.torque_servos", text="Torque On").on = True
        _button(row, holds and baked).operator("robik.play_servos", icon="PLAY")
        _button(row, holds).operator("robik.live_servos", icon="REC")
        _button(layout, holds and baked).operator("robik.play_with_timeline", icon="PLAY_SOUND")
        if "hardware error" in status.message:
            layout.operator("robik.reboot_servos", icon="FILE_REFRESH")
        if holds and not baked:
            line(layout, "Bake before playing; Live follows the sliders", "INFO")


def _draw_timeline(layout: UILayout) -> None:
    """Say what *Play with Timeline* does, or why it is off."""
    said = timeline.message()
    if timeline.is_armed():
        line(layout, said[:1].upper() + said[1:], "TIME")
    elif said:
        line(layout, sentence("Play with Timeline is off: {why}", why=said), "INFO")


def in_timeline(self: Header, context: Context) -> None:
    """In the timeline's header, while servos are connected: whether space moves them."""
    armed = timeline.is_armed()
    if armed or play.status().state is PlayState.HOLDING:
        self.layout.operator("robik.play_with_timeline", text="Robot", icon="PLAY_SOUND", depress=armed)


def _button(row: UILayout, enabled: bool) -> UILayout:
    """Return a place for a button that is greyed out where it cannot be pressed."""
    place = row.row(align=True)
    place.enabled = enabled
    return place


def _draw_stop(layout: UILayout) -> None:
    """Stop and torque off, also where the port is closed."""
    stop = layout.row(align=True)
    stop.scale_y = 1.4
    stop.alert = (
        bpy.context.preferences.themes[0].user_interface.wcol_tool.text.v > 0.5
    )  # on its dark red only light text can be read
    _button(stop, play.is_open()).operator("robik.stop_servos", text="Stop", icon="CANCEL").emergency = False
    stop.operator("robik.stop_servos", text="Torque Off").emergency = True


class ROBIK_PT_servos_playing(FoldedPanel):
    """Playing the motion on the servos."""

    bl_idname = "ROBIK_PT_servos_playing"
    bl_label = "Playing"
    bl_parent_id = "ROBIK_PT_servos"

    def draw(self, context: Context) -> None:
        layout, playing = self.layout, context.scene.robik.playing
        layout.use_property_split, layout.use_property_decorate = True, False
        for name in ("speed", "loop", "use_range", "soften", "lose_hold", "dead_man"):
            layout.prop(playing, name)
        if (root := context.scene.robik.robot) is not None:
            for name in ("carry_weight", "tilt_feedback"):  # one switch, for what is tested and what is played
                layout.prop(root.robik.robot.physics, name)
        column = layout.column()
        column.enabled = not play.is_open()
        for name in ("rate", "feed_forward", "stall", "without", "record"):
            column.prop(playing, name)
        if playing.record:
            layout.operator("robik.report_telemetry")


class ROBIK_PT_servos_state(FoldedPanel):
    """State of each servo."""

    bl_idname = "ROBIK_PT_servos_state"
    bl_label = "Each Servo"
    bl_parent_id = "ROBIK_PT_servos"

    def draw(self, context: Context) -> None:
        layout, status = self.layout, play.status()
        root = robot_or_hint(context, layout)
        if root is None:
            return
        if not status.servos:
            line(layout, "Connect to see their state", "INFO")
            return
        column = layout.column(align=True)
        for servo, at in zip(status.servos, status.present, strict=True):
            icon = "ERROR" if servo.error else "LOCKED" if servo.torque else "UNLOCKED"  # locked: it has torque
            column.label(text=f"{servo.id} {servo.actuator}", icon=icon)
            if servo.error:
                _draw_below(column, [servo.error])
            if servo.torque is not None:  # it answers
                _draw_below(column, _numbers(servo, shown(root, servo.actuator, at)))


def _draw_below(column: UILayout, cells: list[str]) -> None:
    """Write below a name, which leaves no room for numbers in its own row."""
    below = column.split(factor=INDENT)
    below.label()
    row = below.row()
    for cell in cells:
        row.label(text=cell)


def _numbers(servo: ServoReading, at: str) -> list[str]:
    """Return what a servo reports, each with its unit: position, load, temperature, voltage."""
    if not isfinite(servo.celsius):  # a program that has the bus does not say it
        return [at]
    load = f"{100 * servo.load:.0f} %" if servo.current is None else f"{servo.current:.2f} A"
    return [at, load, f"{servo.celsius:.0f} °C", f"{servo.volts:.1f} V"]


CLASSES = (ROBIK_PT_servos, ROBIK_PT_servos_playing, ROBIK_PT_servos_state)
