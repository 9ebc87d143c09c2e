"""Robots that are moved by hand: keys of what they are moved to, and one that leads another."""

import bpy
from bpy.types import Context, Event

from ...robik.errors import RobikError, ServoError
from ...robik.servo.port.status import PlayState
from ...scene.robot.parts import chosen_robot
from ...scene.servos import hand, leader, play
from ...scene.show import performing
from ..reporting import Reporting
from .play import LOOK, TIMEOUT, beat_on

TAKE = 0.015  # [s] between looks while it records


class ROBIK_OT_key_servos(Reporting):
    """Key the motors at the current frame where the real robot is"""

    bl_idname = "robik.key_servos"
    bl_label = "Key Real Pose"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Keys."""
        hand.key_real_pose(chosen_robot(context.scene), float(context.scene.frame_current))
        return {"FINISHED"}


class ROBIK_OT_record_servos(Reporting):
    """Record the real robot, or the one that leads, moved by hand, from this frame on, as few keys; Return ends it"""

    bl_idname = "robik.record_servos"
    bl_label = "Record Real Pose"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Begin."""
        if bpy.app.background:
            raise ServoError("a recording needs a window; without one, use robik servos record")
        chosen_robot(context.scene)
        self._hand, self._first = hand.Hand(), float(context.scene.frame_current)
        self._timer = context.window_manager.event_timer_add(TAKE, window=context.window)
        context.workspace.status_text_set("Recording the real robot: Return or ESC ends it")
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> set[str]:
        """Take in where the robot is; in the end key what there is."""
        is_over = event.type in ("ESC", "RET") and event.value == "PRESS"
        if self._hand.take() and not is_over:
            return {"PASS_THROUGH"}
        self.cancel(context)
        try:
            root, recording = chosen_robot(context.scene), self._hand.recording
            seconds, keys = hand.key_recording(root, context.scene, recording, self._first)
        except RobikError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if recording.silence:
            self.report({"WARNING"}, recording.silence)
        self.report({"INFO"}, f"Recorded {seconds:.1f} s from the real robot, at most {keys} keys a motor")
        return {"FINISHED"}

    def cancel(self, context: Context) -> None:
        """Let go of the window; Blender calls it, too, when it ends the operator."""
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            context.workspace.status_text_set(None)
            self._timer = None
            self._hand.end()


class ROBIK_OT_connect_leader(Reporting):
    """Let a second robot lead: moved by hand, it moves this one's sliders, and servos that are live follow"""

    bl_idname = "robik.connect_leader"
    bl_label = "Let It Lead"

    def run(self, context: Context) -> set[str]:
        """Connect; a script waits for the answer, a window looks on."""
        performing.check_none()
        player = leader.connect(context.scene, play.player())
        if bpy.app.background:
            self._tell(player.wait(PlayState.READY, PlayState.HOLDING, timeout=TIMEOUT).message)
            return {"FINISHED"}
        beat_on()
        self._timer = context.window_manager.event_timer_add(LOOK, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> set[str]:
        """Wait until it was found, or not."""
        if leader.status().state is PlayState.CONNECTING:
            return {"PASS_THROUGH"}
        self.cancel(context)
        self._tell(leader.status().message)
        return {"FINISHED"}

    def _tell(self, message: str) -> None:
        """Report who was found, and that a robot that holds cannot be led by hand."""
        status = leader.status()
        self.report({"ERROR" if status.state is PlayState.FAULT else "INFO"}, f"Leader: {message}")
        if status.torque:
            self.report({"WARNING"}, "Leader: its torque is on, so that no hand can move it; turn it off")

    def cancel(self, context: Context) -> None:
        """Let go of the window."""
        context.window_manager.event_timer_remove(self._timer)


class ROBIK_OT_disconnect_leader(Reporting):
    """Let the second robot lead no longer, and close its port"""

    bl_idname = "robik.disconnect_leader"
    bl_label = "Disconnect"

    def run(self, context: Context) -> set[str]:
        """Let go of its port."""
        if leader.player() is None:
            raise ServoError("no robot leads")
        leader.disconnect(play.LEAVING if bpy.app.background else 0.0)
        return {"FINISHED"}


CLASSES = (
    ROBIK_OT_key_servos,
    ROBIK_OT_record_servos,
    ROBIK_OT_connect_leader,
    ROBIK_OT_disconnect_leader,
)
