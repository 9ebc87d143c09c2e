"""Trial of a motion format before long work: a robot at rest is written, and thrown away."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..errors import ClipError, FormatError
from ..mechanism.model import Mechanism
from ..mechanism.topology import build_topology
from .format import Companions, MotionFormat
from .motion import BaseTrack, Motion

RATE = 30.0  # Hz, where nobody says another one


def check_fits(row: MotionFormat, path: str | Path, companions: Companions, rate: float | None = None) -> None:
    """Check that motions of a robot can be written in a format."""
    if "servos" in row.needs:
        raise FormatError(
            f"{path}: the format {row.name} needs a servo chain; write csv, and bring that into it by robik export"
            " --servos SERVOS.json"
        )
    assert row.write is not None and companions.robot is not None
    times = np.arange(2.0) / (rate or row.rate or RATE)
    try:
        row.write(_resting(companions.robot, times), Path(path), companions)
    except ClipError as error:
        raise ClipError(f"{path}: {error}") from None


def _resting(robot: Mechanism, times: np.ndarray) -> Motion:
    """Return the motion of a robot that stays where it rests."""
    root, base = build_topology(robot).root, None
    if root:
        pose = robot.bodies[robot.body_index[root]].pose
        position, quaternion = (np.tile(values, (len(times), 1)) for values in (pose.position, pose.quaternion))
        base = BaseTrack(body=root, position=position, quaternion=quaternion)
    values = np.zeros((len(times), len(robot.actuators)))
    return Motion(times=times, actuators=robot.actuators, values=values, base=base)
