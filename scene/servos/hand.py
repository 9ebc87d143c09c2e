"""Keys from robots that are moved by hand: the scene's own, or one that leads it."""

from __future__ import annotations

import numpy as np
from bpy.types import Object, Scene

from ...robik.errors import ServoError
from ...robik.retargeting.reduce import Keys, reduce_keys
from ...robik.servo.teach.teaching import HandRecording
from ..animation.actions import Curve, write_curves, write_smooth
from ..robot.sliders import data_path
from . import leader, play

GROUP = "Motors"


class Hand:
    """A recording of the robot that is moved by hand: of the leader, where there is one, else of the scene's.

    Raise ServoError if neither is connected.

    Attributes:
        recording: what has come so far.
    """

    def __init__(self) -> None:
        self._source = leader.player() or play.connected()
        self._source.watch(True)
        self.recording = HandRecording(self._source.chain)
        self.take()

    def take(self) -> bool:
        """Take in where the robot is; returns whether it is still connected."""
        if not self._source.is_open:
            return False
        self.recording.take(self._source.status)
        return True

    def end(self) -> None:
        """Look as often as before."""
        if self._source is play.player():
            self._source.watch(False)


def key_recording(root: Object, scene: Scene, recording: HandRecording, first: float) -> tuple[float, int]:
    """Key a recording on the robot's sliders from a frame on; keys outside of its frames stay.

    *Poses Only* keys the poses that were held still, at both ends of the time for which they were held. The
    tolerance of the keys is the scene's. Return its length [s], and how many keys a motor has at most. Raise
    ServoError if nothing was moved, no pose was held, or the robot has none of these motors.
    """
    rate, playing = scene.render.fps / scene.render.fps_base, scene.robik.playing
    channels = _poses(recording) if playing.hand_poses else _curves(recording, playing.hand_tolerance)
    there = {name: keys for name, keys in channels.items() if isinstance(root.get(name), float)}
    if not there:
        raise ServoError(f"the robot has none of the motors that were recorded: {', '.join(channels)}")
    for name, keys in there.items():
        frames = Keys(first + keys.times * rate, keys.values, keys.slopes / rate)
        write_smooth(root, data_path(name), 0, frames, GROUP, outside=True)
    return max(float(keys.times[-1]) for keys in there.values()), max(len(keys.times) for keys in there.values())


def _curves(recording: HandRecording, tolerance: float) -> dict[str, Keys]:
    """Return a recording as few keys, within a tolerance of the servos' horns [rad]; 0 for a key per sample."""
    motion = recording.motion()
    return {
        name: reduce_keys(motion.times, column, max(tolerance, 1e-9) / horn)
        for name, column, horn in zip(motion.actuators, motion.values.T, recording.horns, strict=True)
    }


def _poses(recording: HandRecording) -> dict[str, Keys]:
    """Return the poses of a recording as flat keys at both ends of each."""
    poses = recording.poses()
    times, values = np.column_stack([poses.begins, poses.ends]).ravel(), np.repeat(poses.values, 2, axis=0)
    return {
        name: Keys(times, column, np.zeros(len(times)))
        for name, column in zip(recording.actuators, values.T, strict=True)
    }


def key_real_pose(root: Object, frame: float) -> None:
    """Key the sliders at a frame where the real robot is; other keys stay.

    Raise ServoError if nothing is known of it.
    """
    pose = play.real_pose()
    curves = [
        Curve(data_path(name), 0, np.array([value]), GROUP)
        for name, value in pose.items()
        if isinstance(root.get(name), float)
    ]
    write_curves(root, np.array([frame]), curves, outside=True)
