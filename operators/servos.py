"""Playing on servos. Nothing moves before the user turned torque on; while it plays, Blender's heartbeat keeps it going."""

import bpy
from bpy.app.handlers import persistent
from bpy.props import BoolProperty
from bpy.types import Context, Event

from robik.servo.player import PlayState

from ..scene import play
from ..scene.parts import chosen_robot
from ..scene.read_robot import read_robot
from .reporting import Reporting

BEAT = 0.05  # between heartbeats [s]
REDRAW = 0.25  # between looks at the player for the panel [s]
TIMEOUT = 30.0  # for scripts: of connecting and switching [s]


def _redraw() -> float | None:
    """Keeps the panel up to date as long as something is connected."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            for region in area.regions if area.type == "VIEW_3D" else ():
                if region.type == "UI":
                    region.tag_redraw()
    return REDRAW if play.player() is not None else None


class ROBIK_OT_connect_servos(Reporting):
    """Open the port and read every servo; nothing is written and nothing moves"""

    bl_idname = "robik.connect_servos"
    bl_label = "Connect"

    def run(self, context: Context) -> set[str]:
        """Connects; a script waits for the answer, a window looks on."""
        root = chosen_robot(context.scene)
        player = play.connect(play.servo_chain(root, read_robot(root), context.scene), context.scene.robik.port)
        if bpy.app.background:
            player.wait(PlayState.READY, PlayState.HOLDING, timeout=TIMEOUT)
        elif not bpy.app.timers.is_registered(_redraw):
            bpy.app.timers.register(_redraw, first_interval=REDRAW)
        return {"FINISHED"}


class ROBIK_OT_disconnect_servos(Reporting):
    """Stop, close the port and leave the servos' torque as it is"""

    bl_idname = "robik.disconnect_servos"
    bl_label = "Disconnect"

    def run(self, context: Context) -> set[str]:
        """Lets go of the port."""
        play.connected()
        play.disconnect()
        return {"FINISHED"}


class ROBIK_OT_torque_servos(Reporting):
    """Turn the servos' torque on, so that they hold where they are, or off, so that they yield"""

    bl_idname = "robik.torque_servos"
    bl_label = "Torque"
    on: BoolProperty(name="On", description="Whether the servos hold", default=True)

    def run(self, context: Context) -> set[str]:
        """Switches."""
        player = play.connected()
        player.torque(self.on)
        if bpy.app.background:
            player.wait(PlayState.HOLDING if self.on else PlayState.READY, timeout=TIMEOUT)
        return {"FINISHED"}


class ROBIK_OT_preflight(Reporting):
    """Hold the baked motion against the servos' limits, without moving anything"""

    bl_idname = "robik.preflight"
    bl_label = "Preflight"

    def run(self, context: Context) -> set[str]:
        """Reports what speaks against playing."""
        root = chosen_robot(context.scene)
        mechanism = read_robot(root)
        chain = play.servo_chain(root, mechanism, context.scene)
        found = play.check(play.motion_to_play(root, mechanism, context.scene), chain)
        for warning in found.warnings:
            self.report({"WARNING"}, warning)
        found.check()
        self.report({"INFO"}, f"Preflight: {len(chain.servos)} servos can play this motion")
        return {"FINISHED"}


class ROBIK_OT_play_servos(Reporting):
    """Go slowly to the first frame, then play the baked motion on the servos; ESC stops"""

    bl_idname = "robik.play_servos"
    bl_label = "Play"

    def run(self, context: Context) -> set[str]:
        """Plays to the end, for scripts."""
        self._begin(context)
        if bpy.app.background:
            player = play.connected()
            longest = TIMEOUT + 2.0 * player.status.duration
            player.wait(PlayState.HOLDING, PlayState.READY, timeout=longest)
            self.report({"INFO"}, f"Servos: {player.status.message}")
            return {"FINISHED"}
        self._timer = context.window_manager.event_timer_add(BEAT, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def _begin(self, context: Context) -> None:
        root = chosen_robot(context.scene)
        play.connected().play(play.motion_to_play(root, read_robot(root), context.scene))

    def modal(self, context: Context, event: Event) -> set[str]:
        """Beats while it plays; everything but ESC goes on to Blender."""
        player = play.player()
        if player is None or not player.status.state.is_moving:
            context.window_manager.event_timer_remove(self._timer)
            text = play.status().message
            self.report({"ERROR" if play.status().state is PlayState.FAULT else "INFO"}, f"Servos: {text}")
            return {"FINISHED"}
        if event.type == "ESC" and event.value == "PRESS":
            player.stop()
            return {"RUNNING_MODAL"}
        if event.type == "TIMER":
            player.heartbeat()
        return {"PASS_THROUGH"}

    def cancel(self, context: Context) -> None:
        """Blender ends the operator, for example by opening another file."""
        context.window_manager.event_timer_remove(self._timer)
        play.disconnect()


class ROBIK_OT_stop_servos(Reporting):
    """Stop the servos: slow down and hold, or turn torque off at once"""

    bl_idname = "robik.stop_servos"
    bl_label = "Stop"
    emergency: BoolProperty(name="Torque Off", description="Turn torque off at once: what the servos carry may fall")

    def run(self, context: Context) -> set[str]:
        """Stops."""
        player = play.connected()
        if self.emergency:
            player.emergency_stop()
        else:
            player.stop()
        return {"FINISHED"}


@persistent
def before_load(_file: str) -> None:
    """Opening another file stops what plays, and closes the port."""
    play.disconnect()


CLASSES = (
    ROBIK_OT_connect_servos,
    ROBIK_OT_disconnect_servos,
    ROBIK_OT_torque_servos,
    ROBIK_OT_preflight,
    ROBIK_OT_play_servos,
    ROBIK_OT_stop_servos,
)
