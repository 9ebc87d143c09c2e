"""A robot's motion on servos: the one player that a Blender session has, and what it plays on."""

from __future__ import annotations

from pathlib import Path

import bpy
from bpy.types import Object, Scene

from robik.errors import ServoError
from robik.mechanism import Mechanism
from robik.retarget.motion import Motion
from robik.servo.chain import ServoChain, default_chain, load_chain
from robik.servo.player import Player, PlaySettings, Status
from robik.servo.preflight import Preflight, preflight

from .curves import baked_frames, read_motion

CHAIN_EXTENSION = ".servos.json"
SETTINGS = PlaySettings(heartbeat=1.5)  # Blender's window may hang for a second, while a file is saved; its death ends the thread at once

_player: Player | None = None


def player() -> Player | None:
    """The connected player, or None."""
    return _player


def status() -> Status:
    """Where the player stands; closed where there is none."""
    return _player.status if _player is not None else Status()


def is_open() -> bool:
    """Whether there are servos to speak to: also after most faults, when they may still be powered and can still be stopped."""
    return _player is not None and _player.is_open


def connected() -> Player:
    """The connected player.

    Raises:
        ServoError: there is none, or its port is closed.
    """
    if _player is None or not _player.is_open:
        raise ServoError(f"no servos are connected ({status().message}); connect first")
    return _player


def connect(chain: ServoChain, port: str) -> Player:
    """Opens a port; an earlier player lets go of its own first.

    Raises:
        ServoError: no port is named.
    """
    global _player
    if not port.strip():
        raise ServoError("no port is named; give the servos' serial port, for example /dev/ttyUSB0 or COM3, or sim for simulated ones")
    disconnect()
    _player = Player(chain, port.strip(), SETTINGS)
    _player.connect()
    return _player


def disconnect() -> None:
    """Stops softly, closes the port and leaves torque as it is."""
    global _player
    if _player is not None:
        _player.close()
        _player = None


def chain_file(root: Object, scene: Scene) -> Path | None:
    """The file that says which servo drives which motor: the one chosen, else the one beside the robot's file."""
    if scene.robik.servos:
        return Path(bpy.path.abspath(scene.robik.servos))
    source = Path(bpy.path.abspath(root.robik.robot.source))
    beside = source.with_name(source.name.split(".")[0] + CHAIN_EXTENSION)
    return beside if beside.is_file() else None


def servo_chain(root: Object, mechanism: Mechanism, scene: Scene) -> ServoChain:
    """A robot's servos: from its file, or one per motor with ids 1, 2, … where there is none.

    Raises:
        ServoError, FormatError: the file is not what it should be.
    """
    file = chain_file(root, scene)
    if file is not None:
        return load_chain(file)
    limits = {n: limit for j in mechanism.actuated for n, limit in zip(j.coordinate_names, j.limits, strict=True)}
    speeds = {n: j.velocity_limit for j in mechanism.actuated for n in j.coordinate_names}
    return default_chain(mechanism.actuators, limits, speeds, robot=mechanism.name)


def check(motion: Motion, chain: ServoChain) -> Preflight:
    """What speaks against playing a motion on a chain."""
    return preflight(motion, chain, SETTINGS.rate)


def motion_to_play(root: Object, mechanism: Mechanism, scene: Scene) -> Motion:
    """What the sliders' curves hold.

    Raises:
        RobikError: there are none.
    """
    return read_motion(root, mechanism, baked_frames(root, mechanism), scene)
