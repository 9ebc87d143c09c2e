"""A robot that leads: moved by hand, it moves the sliders of the scene's robot.

Servos that are live follow the sliders, and so a second robot does what the hand does.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import bpy
import numpy as np
from bpy.types import Object, Scene

from ...robik.errors import RobikError, ServoError
from ...robik.servo.chain.chain import ServoChain
from ...robik.servo.chain.file import load_chain
from ...robik.servo.play.player import Player
from ...robik.servo.port.status import PlaySettings, PlayState, Status
from ...robik.servo.teach.teleoperation import SILENT, check_ports
from ..robot.chain import servo_chain
from ..robot.parts import chosen_robot
from ..robot.reading import read_robot
from ..robot.sliders import set_sliders

STILL = 1e-4  # [rad or m]: a servo that stands jitters by less than a count

_player: Player | None = None


def player() -> Player | None:
    """Return the player of the robot that leads; None where none does."""
    return _player if _player is not None and _player.is_open else None


def status() -> Status:
    """Return where it stands."""
    return Status() if _player is None else _player.status


def connect(scene: Scene, follower: Player | None) -> Player:
    """Open the leader's port; its servos are read, and never written to.

    Raise RobikError without a port of its own, for a bad servo file, or while servos are live.
    """
    global _player
    playing = scene.robik.playing
    port = playing.leader_port.strip()
    if not port:
        raise ServoError("no port is named for the leader; give its serial port, for example /dev/ttyUSB1 or COM4")
    made = Player(_chain(scene), port, PlaySettings(), is_apart=True)
    if follower is not None and follower.is_open:
        if follower.status.state is PlayState.LIVE:
            raise ServoError("the servos are live; stop them first, and let them follow once the leader is connected")
        check_ports(made, follower)
    disconnect()
    _player = made
    _player.connect()
    _player.watch(True)
    return _player


def _chain(scene: Scene) -> ServoChain:
    """Return the leader's servos: of its own file, else those of the robot."""
    if file := scene.robik.playing.leader_servos:
        return load_chain(Path(bpy.path.abspath(file)))
    root = chosen_robot(scene)
    return servo_chain(root, read_robot(root), scene)


def disconnect(wait: float = 0.0) -> None:
    """Let go of its port; waits for that at most so long [s]."""
    global _player
    if _player is not None:
        _player.close(wait)
        _player = None


def leads() -> bool:
    """Return whether a leader is connected that said a moment ago where it is."""
    return player() is not None and bool(status().present) and perf_counter() - status().seen < SILENT


def move_sliders(scene: Scene) -> None:
    """Put the sliders of the scene's robot where the leader is; those of motors that it has not stay.

    A leader that does not lead moves nothing.
    """
    if not leads():
        return
    assert _player is not None
    _player.heartbeat()
    pose = dict(reversed(list(zip(_player.chain.actuators, _player.status.present, strict=False))))
    try:
        root = chosen_robot(scene)
    except RobikError:  # there is none to move
        return
    names = tuple(name for name, value in pose.items() if _is_elsewhere(root, name, value))
    set_sliders(root, names, np.array([pose[name] for name in names]))


def _is_elsewhere(root: Object, name: str, value: float) -> bool:
    there = root.get(name)
    return isinstance(there, float) and np.isfinite(value) and abs(there - value) > STILL
