"""Playing on servos.

Nothing moves before the user turned torque on; while it plays, Blender's heartbeat keeps it going.
"""

from time import monotonic

import bpy
from bpy.app.handlers import persistent
from bpy.props import BoolProperty
from bpy.types import Context, Event, Scene

from ...robik.errors import ServoError
from ...robik.motions import Motion
from ...robik.servo.chain.chain import ServoChain
from ...robik.servo.port.status import PlayState
from ...scene.robot.chain import servo_chain, told_of_chain
from ...scene.robot.parts import chosen_robot
from ...scene.robot.reading import read_robot
from ...scene.servos import leader, play, timeline, tuning
from ...scene.servos.hold import with_hold
from ...scene.show import live_character, performing
from ..reporting import Reporting

LOOK = 0.05  # between a window's looks at the player [s]
REDRAW = 5  # beats between drawings of what shows the player's status
REDRAWN = {"VIEW_3D": "UI", "DOPESHEET_EDITOR": "HEADER"}  # where that is: regions of areas
TIMEOUT = 30.0  # for scripts: of connecting and switching [s]
HELD = 0.7  # [s] after which a key that no longer repeats is not held
_beats = 0


def beat_on() -> None:
    """Let Blender's main loop beat for what is connected."""
    if not bpy.app.timers.is_registered(_beat):
        bpy.app.timers.register(_beat, first_interval=play.BEAT, persistent=True)


def _beat() -> float | None:
    """From Blender's main loop, whatever the user is dragging; as long as something is connected."""
    global _beats
    if play.player() is None and leader.player() is None:
        return None
    _beats += 1
    performing.tick(bpy.context.scene)  # first: whatever ends it stops the servos before they are told more
    play.tick(bpy.context.scene)
    timeline.tick(bpy.context.scene)
    tuning.tick(bpy.context.scene)
    if _beats % REDRAW == 0:
        for window in bpy.context.window_manager.windows:
            for area in window.screen.areas:
                for region in area.regions:
                    if region.type == REDRAWN.get(area.type):
                        region.tag_redraw()
    return play.BEAT


class ROBIK_OT_disconnect_servos(Reporting):
    """Stop, close the port and leave the servos' torque as it is"""

    bl_idname = "robik.disconnect_servos"
    bl_label = "Disconnect"

    def run(self, context: Context) -> set[str]:
        """Let go of the port."""
        play.connected()
        timeline.disarm()
        play.disconnect(play.LEAVING if bpy.app.background else 0.0)
        return {"FINISHED"}


class ROBIK_OT_torque_servos(Reporting):
    """Turn the servos' torque on, so that they hold where they are, or off, so that they yield"""

    bl_idname = "robik.torque_servos"
    bl_label = "Torque"
    on: BoolProperty(name="On", description="Whether the servos hold", default=True)

    def run(self, context: Context) -> set[str]:
        """Switch."""
        player = play.connected()
        player.torque(self.on)
        if bpy.app.background:
            player.wait(PlayState.HOLDING if self.on else PlayState.READY, timeout=TIMEOUT)
        return {"FINISHED"}


def _checked_motion(operator: Reporting, scene: Scene, chain: ServoChain) -> Motion:
    """Return what is to be played, once nothing speaks against it.

    What it will do without, or otherwise than baked, is reported.
    """
    root = chosen_robot(scene)
    mechanism = read_robot(root)
    motion, softened = play.motion_to_play(root, mechanism, scene, chain)
    found = with_hold(play.check(motion, chain, scene), root, mechanism, scene)
    for warning in (*found.warnings, *filter(None, [softened])):
        operator.report({"WARNING"}, warning)
    found.check()
    return motion


def _tell_of_chain(operator: Reporting, scene: Scene) -> None:
    """Warn of servos on which the robot cannot stand, and of data that nobody has confirmed."""
    for warning in told_of_chain(chosen_robot(scene), scene):
        operator.report({"WARNING"}, warning[:1].upper() + warning[1:])


class ROBIK_OT_preflight(Reporting):
    """Hold the baked motion against the servos' limits, without moving anything"""

    bl_idname = "robik.preflight"
    bl_label = "Preflight"

    def run(self, context: Context) -> set[str]:
        """Report what speaks against playing."""
        root = chosen_robot(context.scene)
        chain = servo_chain(root, read_robot(root), context.scene)
        _tell_of_chain(self, context.scene)
        _checked_motion(self, context.scene, chain)
        self.report({"INFO"}, f"Preflight: {len(chain.servos)} servos can play this motion")
        return {"FINISHED"}


class Watching(Reporting):
    """An operator that sets the servos moving and stays until they stand.

    ESC stops them; every other event goes on to Blender.
    """

    bl_idname = "robik.watching"  # never registered

    def watch(self, context: Context) -> set[str]:
        """Begin to; a script waits instead."""
        self._timer = context.window_manager.event_timer_add(LOOK, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> set[str]:
        """Look at the player.

        The heartbeat comes from elsewhere, since whoever drags something takes these events away.
        """
        player = play.player()
        if player is None or not self.goes_on(player.status.state):
            context.window_manager.event_timer_remove(self._timer)
            self.tell()
            return {"FINISHED"}
        if event.type == "ESC" and event.value == "PRESS":
            player.stop()
            return {"RUNNING_MODAL"}
        self.see(context, event)
        return {"PASS_THROUGH"}

    def goes_on(self, state: PlayState) -> bool:
        """Return whether there still is something to watch."""
        return state.is_moving

    def tell(self) -> None:
        """Report the outcome."""
        status = play.status()
        self.report({"ERROR" if status.state is PlayState.FAULT else "INFO"}, f"Servos: {status.message}")
        if status.recording:
            self.report({"WARNING"}, f"Servos: {status.recording}")

    def see(self, context: Context, event: Event) -> None:
        """Anything else that happens meanwhile."""

    def cancel(self, context: Context) -> None:
        """Blender ends the operator, for example by opening another file."""
        context.window_manager.event_timer_remove(self._timer)
        play.disconnect()


class ROBIK_OT_connect_servos(Watching):
    """Open the port and read every servo; nothing is written and nothing moves"""

    bl_idname = "robik.connect_servos"
    bl_label = "Connect"

    def run(self, context: Context) -> set[str]:
        """Connect; a script waits for the answer, a window looks on."""
        root = chosen_robot(context.scene)
        chain = servo_chain(root, read_robot(root), context.scene)
        _tell_of_chain(self, context.scene)
        player = play.connect(chain, context.scene.robik.port, play.settings_of(context.scene))
        if bpy.app.background:
            player.wait(PlayState.READY, PlayState.HOLDING, timeout=TIMEOUT)
            self.tell()
            return {"FINISHED"}
        beat_on()
        return self.watch(context)

    def goes_on(self, state: PlayState) -> bool:
        return state is PlayState.CONNECTING

    def tell(self) -> None:
        super().tell()
        for warning in filter(None, (play.status().missing, play.status().adapter)):
            self.report({"WARNING"}, f"Servos: {warning}")


class ROBIK_OT_play_servos(Watching):
    """Go slowly to the first frame, then play the baked motion on the servos; ESC stops"""

    bl_idname = "robik.play_servos"
    bl_label = "Play"

    def run(self, context: Context) -> set[str]:
        """Play; a script waits for the end."""
        player, playing = play.connected(), context.scene.robik.playing
        check_disarmed()
        performing.check_none()
        motion = _checked_motion(self, context.scene, player.chain)
        root = chosen_robot(context.scene)
        play.play_from(float(play.frames_to_play(root, read_robot(root), context.scene)[0]))
        tilt = play.tilt_to_play(root, read_robot(root), context.scene, player.chain)
        player.play(motion, loop=playing.loop, speed=playing.speed, from_afar=playing.soften, tilt=tilt)
        if not bpy.app.background:
            return self.watch(context)
        player.wait(PlayState.HOLDING, PlayState.READY, timeout=TIMEOUT + 2.0 * player.status.duration)
        self.tell()
        return {"FINISHED"}


class ROBIK_OT_pause_servos(Reporting):
    """Slow down along the motion and stand there, or go on from there"""

    bl_idname = "robik.pause_servos"
    bl_label = "Pause"
    on: BoolProperty(name="Pause", description="Whether to pause or to go on", default=True)

    def run(self, context: Context) -> set[str]:
        """Switch."""
        player = play.connected()
        if self.on:
            player.pause()
        else:
            player.resume()
        return {"FINISHED"}


class Following(Watching):
    """An operator that lets the servos follow the sliders, while the dead man's key is held where that is asked for."""

    bl_idname = "robik.following"  # never registered

    def watch(self, context: Context) -> set[str]:
        self._pressed = -HELD
        play.hold(not context.scene.robik.playing.dead_man)
        return super().watch(context)

    def see(self, context: Context, event: Event) -> None:
        now = monotonic()
        if event.type == "D":
            self._pressed = now if event.value == "PRESS" else -HELD
        play.hold(not context.scene.robik.playing.dead_man or now - self._pressed < HELD)


class ROBIK_OT_live_servos(Following):
    """The servos follow the sliders, whether these are dragged or animated, never faster than is safe; ESC stops"""

    bl_idname = "robik.live_servos"
    bl_label = "Live"

    def run(self, context: Context) -> set[str]:
        """Follow; a script goes on, and must call `play.tick` itself."""
        check_disarmed()
        play.lead_live(chosen_robot(context.scene))
        return {"FINISHED"} if bpy.app.background else self.watch(context)


class ROBIK_OT_play_with_timeline(Following):
    """Space plays scene, sound and robot together, and scrubbing moves the robot, within its limits; ESC ends that"""

    bl_idname = "robik.play_with_timeline"
    bl_label = "Play with Timeline"

    def run(self, context: Context) -> set[str]:
        """Arm it, or disarm it; a script goes on, and must call `timeline.tick` itself."""
        if timeline.is_armed():
            timeline.disarm()
            return {"FINISHED"}
        performing.check_none()
        timeline.arm(chosen_robot(context.scene), context.scene)
        return {"FINISHED"} if bpy.app.background else self.watch(context)

    def goes_on(self, state: PlayState) -> bool:
        return timeline.is_armed()

    def modal(self, context: Context, event: Event) -> set[str]:
        if event.type == "ESC" and event.value == "PRESS":
            timeline.disarm()
            return super().modal(context, event) | {"PASS_THROUGH"}
        return super().modal(context, event)

    def tell(self) -> None:
        timeline.disarm()  # of servos that were disconnected
        said = timeline.message()
        self.report({"WARNING" if said else "INFO"}, "Play with Timeline is off" + (f": {said}" if said else ""))


def check_disarmed() -> None:
    """Raise ServoError if the timeline moves the servos."""
    if timeline.is_armed():
        raise ServoError("Play with Timeline is armed; press it again first")


class ROBIK_OT_reboot_servos(Reporting):
    """Reboot the servos that have a hardware error; remove its cause first"""

    bl_idname = "robik.reboot_servos"
    bl_label = "Reboot"

    def run(self, context: Context) -> set[str]:
        """Reboot."""
        player = play.connected()
        player.reboot()
        if bpy.app.background:
            player.wait(PlayState.READY, PlayState.HOLDING, timeout=TIMEOUT)
        return {"FINISHED"}


class ROBIK_OT_report_telemetry(Reporting):
    """Draw goal, position and error of each servo from the last recorded telemetry, as a page beside its file"""

    bl_idname = "robik.report_telemetry"
    bl_label = "How They Followed…"

    def run(self, context: Context) -> set[str]:
        """Write the page, and show it."""
        page = play.report_telemetry(context.scene)
        self.report({"INFO"}, f"Telemetry drawn in {page}")
        if not bpy.app.background:
            bpy.ops.wm.url_open(url=page.as_uri())
        return {"FINISHED"}


class ROBIK_OT_stop_servos(Reporting):
    """Stop the servos: slow down and hold, or turn torque off at once"""

    bl_idname = "robik.stop_servos"
    bl_label = "Stop"
    emergency: BoolProperty(name="Torque Off", description="Turn torque off at once: what the servos carry may fall")

    def run(self, context: Context) -> set[str]:
        """Stop."""
        timeline.disarm()
        performing.end("stopped")
        if self.emergency:
            play.torque_off()
        else:
            play.connected().stop()
        return {"FINISHED"}


@persistent
def before_load(_file: str) -> None:
    """Stop what plays and close the ports before another file opens; the file need not wait for that."""
    timeline.disarm()
    performing.end("another file was opened")
    live_character.end("another file was opened", keeps=False)
    play.disconnect()
    leader.disconnect()


CLASSES = (
    ROBIK_OT_connect_servos,
    ROBIK_OT_disconnect_servos,
    ROBIK_OT_torque_servos,
    ROBIK_OT_preflight,
    ROBIK_OT_play_servos,
    ROBIK_OT_pause_servos,
    ROBIK_OT_live_servos,
    ROBIK_OT_play_with_timeline,
    ROBIK_OT_reboot_servos,
    ROBIK_OT_report_telemetry,
    ROBIK_OT_stop_servos,
)
