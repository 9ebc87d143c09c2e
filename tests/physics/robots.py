"""Robots and motions of the tests of physics."""

from __future__ import annotations

import numpy as np

from robik.dynamics.drives import Drive
from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose
from robik.mechanism.topology import build_topology
from robik.motions import BaseTrack, Motion

SOLE = ((0.1, 0.1, 0.0), (-0.1, 0.1, 0.0), (-0.1, -0.1, 0.0), (0.1, -0.1, 0.0))


def tower(mass: float = 4.0) -> Mechanism:
    """A weight on a hinge over a foot: an inverted pendulum that a motor holds up, h = 0.5 m."""
    inertia = (0.02, 0.02, 0.02, 0.0, 0.0, 0.0)
    foot = Body("foot", 0.5, com=(0.0, 0.0, 0.02), inertia=inertia)
    weight = Body("weight", mass, com=(0.0, 0.0, 0.5), inertia=inertia, pose=Pose((0.0, 0.0, 0.05)))
    hinge = Joint("ankle", "revolute", "foot", "weight", position=(0.0, 0.0, 0.05), axis=(0.0, 1.0, 0.0), actuated=True)
    floating = Joint("base", "free", WORLD, "foot", axis2=(0.0, 1.0, 0.0))
    return Mechanism("tower", (foot, weight), (floating, hinge), frames=(Frame("sole", "foot", sole=SOLE),))


def lean(angle: float, seconds: float = 1.5) -> Motion:
    """The weight goes over by an angle and stays there."""
    times = np.arange(int(60 * seconds)) / 60.0
    values = angle * np.clip(times / 1.0, 0.0, 1.0)[:, None]
    still = BaseTrack(
        body="foot", position=np.zeros((len(times), 3)), quaternion=np.tile([1.0, 0, 0, 0], (len(times), 1))
    )
    return Motion(times=times, actuators=("ankle",), values=values, base=still)


STIFF = {"ankle": Drive(200.0, 50.0)}


def standing_still(robot: Mechanism, seconds: float = 1.0) -> Motion:
    times = np.arange(int(24 * seconds)) / 24.0
    rest = [value for joint in robot.actuated for value in joint.rest]
    body = build_topology(robot).root or ""
    base = robot.rest_pose(body)
    track = BaseTrack(
        body=body,
        position=np.tile(base.position, (len(times), 1)),
        quaternion=np.tile(base.quaternion, (len(times), 1)),
    )
    return Motion(times=times, actuators=robot.actuators, values=np.tile(rest, (len(times), 1)), base=track)
