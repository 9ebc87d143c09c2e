"""Servos of a robot: the chain that its file, or the scene, names."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
from bpy.types import Object, Scene

from ...robik.dynamics.inverse import InverseDynamics
from ...robik.errors import RobikError, ServoError
from ...robik.mechanism import Mechanism
from ...robik.physics.motors import Motors, told_of_data, told_of_legs
from ...robik.physics.servo_limits import file_beside
from ...robik.servo.chain.chain import ServoChain, default_chain
from ...robik.servo.chain.file import load_chain, read_chain
from ...robik.servo.chain.servo import Servo
from .reading import read_moving_parts


def chain_file(root: Object, scene: Scene) -> Path | None:
    """Return the file that says which servo drives which motor.

    The one chosen, else the one beside the robot, where the scene keeps no chain.
    """
    if scene.robik.servos:
        return Path(bpy.path.abspath(scene.robik.servos))
    if scene.robik.playing.chain or not root.robik.robot.source:
        return None
    return file_beside(Path(bpy.path.abspath(root.robik.robot.source)))


def servo_chain(root: Object, mechanism: Mechanism, scene: Scene) -> ServoChain:
    """Return a robot's servos, from its file or as the scene keeps them.

    Where there is neither: one per motor with ids 1, 2, …. Raise ServoError or FormatError for a bad file.
    """
    file = chain_file(root, scene)
    if file is not None:
        return load_chain(file)
    if scene.robik.playing.chain:
        where = f"the chain of scene {scene.name!r}"
        try:
            data = json.loads(scene.robik.playing.chain)
        except ValueError as error:
            raise ServoError(f"{where} is not JSON: {error}; choose a servo file, or empty it") from None
        return read_chain(data, where)
    return one_per_motor(mechanism)


def known_chain(root: Object, scene: Scene) -> ServoChain | None:
    """Return a robot's servos, as `servo_chain` does; None where neither a file nor the scene names them."""
    if chain_file(root, scene) is None and not scene.robik.playing.chain:
        return None
    return servo_chain(root, read_moving_parts(root), scene)


def servo_accelerations(root: Object, scene: Scene) -> dict[str, float]:
    """Return the accelerations that a robot's servos keep, by actuator [rad/s² or m/s²]; empty where none is known.

    Raise ServoError or FormatError for a bad file.
    """
    chain = known_chain(root, scene)
    return {} if chain is None else {servo.actuator: servo.acceleration_limit for servo in chain.servos}


def one_per_motor(mechanism: Mechanism, model: str = Servo.model, brand: str = Servo.brand) -> ServoChain:
    """Return a servo for each motor, with ids 1, 2, … and the motors' limits."""
    limits = dict(zip(mechanism.actuators, map(tuple, mechanism.actuator_limits.tolist()), strict=True))
    speeds = dict(zip(mechanism.actuators, mechanism.actuator_velocity_limits.tolist(), strict=True))
    return default_chain(mechanism.actuators, limits, speeds, model, robot=mechanism.name, brand=brand)


def told_of_chain(root: Object, scene: Scene) -> list[str]:
    """Return what is to be said of a chain before it plays, sentences: legs too soft to stand, data not confirmed.

    Nothing where neither a file nor the scene names servos, or where the robot's weight or feet are not known.
    """
    try:
        motors = robot_motors(root, scene)
        gain = root.robik.robot.physics.p_gain or None
        return [] if motors.chain is None else [*filter(None, (told_of_legs(motors, gain), told_of_data(motors)))]
    except RobikError:
        return []


def robot_motors(root: Object, scene: Scene) -> Motors:
    """Return the robot's motors: its servos' where they are known, else those of its file."""
    room, stiffness = InverseDynamics(read_moving_parts(root)), root.robik.robot.physics.stiffness
    return Motors(room=room, chain=known_chain(root, scene), stiffness=stiffness)
