"""Limits of a performance: those of the robot's motors, and of its servos where they are known."""

from __future__ import annotations

import numpy as np
from bpy.types import Object, Scene

from ...robik.mechanism import Mechanism
from ...robik.mechanism.motor_limits import limits_of as motor_limits
from ..robot.chain import known_chain


def limits_of(root: Object, mechanism: Mechanism, scene: Scene) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a robot's motor limits (A, 2) [rad or m], with highest speeds (A,) and accelerations (A,) per s and s².

    Raise ServoError or FormatError for a bad servo file.
    """
    chain = known_chain(root, scene)
    servos = {} if chain is None else {servo.actuator: servo for servo in chain.servos}
    limits = motor_limits(mechanism, {name: servo.acceleration_limit for name, servo in servos.items()
                                      if name in mechanism.actuators} or None)  # fmt: skip
    positions, speeds = mechanism.actuator_limits.copy(), limits.speed.copy()
    for k, name in enumerate(mechanism.actuators):
        if name in servos:
            low, high = sorted(servos[name].position_limits)
            positions[k] = max(positions[k, 0], low), min(positions[k, 1], high)
            speeds[k] = min(speeds[k], servos[name].velocity_limit)
    return np.sort(positions, axis=1), speeds, limits.acceleration
