"""Hold that the motors have of the robot along what is to be played on servos."""

from __future__ import annotations

from bpy.types import Object, Scene

from ...robik.mechanism import Mechanism
from ...robik.report.motor_hold import hold_along
from ...robik.servo.play.preflight import Preflight
from ..bake.freshness import is_out_of_date
from ..motion import read_motion
from .play import frames_to_play


def with_hold(checked: Preflight, root: Object, mechanism: Mechanism, scene: Scene) -> Preflight:
    """Return a preflight with what is said where the motors lose hold of the robot.

    Along the sliders' curves, and as the bake was found while nobody has edited it: its bodies are known.
    """
    motion = read_motion(root, mechanism, frames_to_play(root, mechanism, scene), scene)
    hold = hold_along(mechanism, motion.values)
    lost, playing = "" if hold is None else hold.in_seconds(motion.times), scene.robik.playing
    is_whole = not (playing.use_range and scene.use_preview_range)
    if not lost and is_whole and not is_out_of_date(root, scene):
        lost = root.robik.robot.result.hold
    return checked.with_hold(lost, playing.lose_hold)
