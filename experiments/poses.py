"""Poses that a robot has, asked of it again without a motion before them: how many are found, and in what time."""

from __future__ import annotations

import time
from itertools import islice
from typing import Any

import numpy as np

import robik
from experiments.experiment import Experiment, Found, tell
from experiments.robot_files import robots_of
from robik.retargeting.solve_pose import MET

OURS = ("ur10", "arm7", "boxer", "chain", "four_bar", "walker")
FILES = (
    "example-robot-data/robots/panda_description/urdf/panda.urdf",
    "example-robot-data/robots/so_arm_description/urdf/so100.urdf", "trossen_wx250s/wx250s.xml",
    "low_cost_robot_arm/low_cost_robot_arm.xml", "robotis_omx/omx.xml", "dynamixel_2r/dynamixel_2r.xml",
    "5bar_linkage/robot.urdf", "turn3/fivebar.xml", "stewart_sdf/model.sdf", "robot_delta/robot.urdf",
    "robotiq_2f85/2f85.xml", "unitree_g1/g1_29dof.xml", "talos_like/robot.urdf", "digit_like_2legs/robot.urdf",
)  # fmt: skip
SHARES = (1.0, 0.5, 0.25, 0.125)  # of the way from rest to random values: how far loops close
PATIENCE = 5  # times as many ways


def poses_of(robot: robik.Mechanism, frame: str, count: int) -> list[robik.Pose]:
    """Return poses that a frame has on the way to random motor values, as far as loops close within all limits."""
    rng, (low, high) = np.random.default_rng(0), np.clip(robot.actuator_limits.T, -np.pi, np.pi)
    rest, poses = robot.actuator_rest, list[robik.Pose]()
    for _ in range(PATIENCE * count):
        way = rng.uniform(low, high) - rest
        there = (robik.forward(robot, rest + share * way) for share in SHARES)
        poses += [at.pose(frame) for at in islice((at for at in there if _keeps_limits(robot, frame, at)), 1)]
        if len(poses) == count:
            break
    return poses


def _keeps_limits(robot: robik.Mechanism, frame: str, at: robik.Assembly) -> bool:
    """Return whether a pose is one of the robot, with joints without a motor within their limits, too."""
    try:
        return at.assembled and robik.solve_pose(robot, {frame: at.pose(frame)}, start=at.values).found
    except robik.ClipError:  # it cannot be assembled there
        return False


def row_of(name: str, robot: robik.Mechanism, frame: str, count: int) -> dict[str, Any]:
    """Return what becomes of the poses of a robot."""
    poses, seconds, found = poses_of(robot, frame, count), [], []
    for pose in poses:
        began = time.process_time()
        found.append(robik.solve_pose(robot, {frame: pose}))
        seconds.append(time.process_time() - began)
    ms = 1e3 * np.array(seconds[1:])  # the first one makes the robot's tables
    off = [one.position_error for one in found]
    return {
        "robot": name, "frame": frame, "poses": len(poses), "found": sum(one.found for one in found),
        "off_max_m": max(off), "ms_mean": float(ms.mean()), "ms_worst": float(ms.max()),
    }  # fmt: skip


def run(poses: int = 20, folder: str = "") -> Found:
    """Ask each robot for random poses of its handle."""
    rows = []
    for name, robot, frame in robots_of(OURS, folder, FILES, "fixed"):
        tell(f"poses: {name}")
        rows.append(row_of(name, robot, frame, poses))
    return {"poses": rows}


def show(found: Found) -> None:
    """Print a row a robot."""
    print(f"met: within {MET[0]:g} of the robot's size and {MET[1]:g} rad")
    for row in found["poses"]:
        print(
            f"{row['robot'][:44]:46}{row['frame'][:24]:26}{row['found']:5} of {row['poses']}"
            f"{1e3 * row['off_max_m']:10.4f} mm {row['ms_mean']:7.2f} ms, {row['ms_worst']:.1f} at most"
        )


EXPERIMENT = Experiment(run=run, show=show, parameters={"poses": (20, 200), "folder": ("", "../shared/data")})
