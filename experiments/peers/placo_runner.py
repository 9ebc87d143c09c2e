"""PlaCo, with loops closed as its documentation does: by positions that coincide.

Hard in the directions that say something new (`hard`), soft and heavy (`soft`), hard and damped (`damped`), or hard in
all directions (`whole`).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import placo
from stepping import run

HEAVY = 1e6  # weight of the loops' tasks, per square metre
DAMPED = 1e-2


class Placo:
    """A case's robot in PlaCo."""

    def __init__(self, folder: Path, case: dict, targets: dict, variant: str) -> None:
        self.case, self.targets = case, targets
        self.robot = placo.RobotWrapper(str(folder / "robot.urdf"), placo.Flags.ignore_collisions)
        self.solver = placo.KinematicsSolver(self.robot)
        self.solver.mask_fbase(not case["floating"])
        self.solver.enable_joint_limits(False)
        self.solver.enable_velocity_limits(False)
        self.frames = {}
        for name, (position, orientation) in case["targets"].items():
            self.frames[name] = self.solver.add_frame_task(f"{name}_target", np.eye(4))
            self.frames[name].configure(name, "soft", position, 2 * orientation)
        self.relative = []
        for frame, other, position, orientation in case["relative"]:
            task = self.solver.add_relative_frame_task(f"{other}_target", f"{frame}_target", np.eye(4))
            task.configure(f"{frame} in {other}", "soft", position, 2 * orientation)
            self.relative.append(task)
        self.looks = []  # PlaCo aligns an axis with a direction, which each step sets to where the point is seen
        for frame, axis, weight in case["look"]:
            look = self.solver.add_axisalign_task(f"{frame}_target", np.array(axis), np.array([1.0, 0.0, 0.0]))
            look.configure(f"{frame} looks", "soft", weight)
            self.looks.append((f"{frame}_target", look))
        self.point = np.zeros(3)
        self.com = None
        if case["com_weight"]:
            self.com = self.solver.add_com_task(np.zeros(3))
            self.com.configure("com", "soft", case["com_weight"][0])
            self.com.mask.set_axises("xy")
        for name, rows in case["points"]:
            if not rows and variant != "whole":
                continue
            loop = self.solver.add_relative_position_task(f"{name}_a", f"{name}_b", np.zeros(3))
            loop.configure(name, *(("soft", HEAVY) if variant == "soft" else ("hard",)))
            if variant != "whole":
                loop.mask.set_axises("".join("xyz"[row] for row in rows))
        self.solver.add_regularization_task(DAMPED if variant == "damped" else case["damping"])
        self.robot.update_kinematics()

    def aim(self, k: int) -> None:
        """Set the targets of sample k."""
        for name, task in self.frames.items():
            pose = np.eye(4)
            pose[:3, :3], pose[:3, 3] = self.targets[f"{name}.rotation"][k], self.targets[f"{name}.position"][k]
            task.T_world_frame = pose
        for task in self.relative:
            pose = np.eye(4)
            pose[:3, :3], pose[:3, 3] = self.targets["relative.rotation"][k], self.targets["relative.position"][k]
            task.T_a_b = pose
        self.point = self.targets.get("look.point", np.zeros((k + 1, 3)))[k]
        if self.com is not None:
            self.com.target_world = self.targets["com"][k]

    def step(self) -> float:
        """Take one step; return its time [s]."""
        for frame, look in self.looks:
            way = self.point - self.robot.get_T_world_frame(frame)[:3, 3]
            look.targetAxis_world = way / np.linalg.norm(way)
        moved = self.solver.solve(True)
        self.robot.update_kinematics()
        return float(np.abs(moved).max())

    def gap(self) -> float:
        """Return the largest distance of a loop's two ends [m]."""
        at = self.robot.get_T_world_frame
        return max(
            (float(np.linalg.norm(at(f"{n}_a")[:3, 3] - at(f"{n}_b")[:3, 3])) for n, _ in self.case["points"]),
            default=0.0,
        )

    def states(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the bodies' centres of mass (n, 3) [m] and rotations (n, 3, 3)."""
        poses = np.array([self.robot.get_T_world_frame(name) for name, _ in self.case["bodies"]])
        offsets = np.array([offset for _, offset in self.case["bodies"]])
        return poses[:, :3, 3] + np.einsum("nij,nj->ni", poses[:, :3, :3], offsets), poses[:, :3, :3]


if __name__ == "__main__":
    run(Placo)
