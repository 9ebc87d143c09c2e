"""pink, with loops closed in four ways.

As hard constraints (`hard`), as a heavy task (`soft`), hard and damped (`damped`), or hard with all rows (`whole`).

It has no task for two points that coincide, so there is one here, made as its documentation says to make tasks.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pink
import pinocchio as pin
from pink.tasks import ComTask, FrameTask, RelativeFrameTask, Task
from stepping import run

HEAVY = 1e3  # cost of the loops' task, per metre
DAMPED = 1e-2


class Coincide(RelativeFrameTask):
    """Two frames' origins coincide, along the axes that say something new."""

    def __init__(self, name: str, rows: list[int], cost: float) -> None:
        super().__init__(f"{name}_b", f"{name}_a", 1.0, 0.0)
        self.rows, self.cost = rows, np.full(len(rows), cost)

    def _apart(self, configuration: pink.Configuration) -> pin.SE3:
        return configuration.get_transform(self.frame, self.root)

    def compute_error(self, configuration: pink.Configuration) -> np.ndarray:
        """Return the distance of the loop's two ends along the rows that count."""
        return self._apart(configuration).translation[self.rows]

    def compute_jacobian(self, configuration: pink.Configuration) -> np.ndarray:
        """Return the derivative of the error by the coordinates."""
        apart = self._apart(configuration)
        b, a = configuration.get_frame_jacobian(self.frame), configuration.get_frame_jacobian(self.root)
        return (apart.rotation @ b[:3] - a[:3] + pin.skew(apart.translation) @ a[3:])[self.rows]


class LookAt(Task):
    """An axis of a frame points at a point, as in `mink_runner`: pink has no such task either."""

    def __init__(self, frame: str, axis: np.ndarray, cost: float) -> None:
        super().__init__(cost=np.full(3, cost))
        self.frame, self.axis, self.target = frame, axis, np.zeros(3)

    def __repr__(self) -> str:
        """Return what it is called in messages."""
        return f"LookAt(frame={self.frame!r})"

    def _directions(self, configuration: pink.Configuration) -> tuple[np.ndarray, np.ndarray, float, pin.SE3]:
        place = configuration.get_transform_frame_to_world(self.frame)
        way = self.target - place.translation
        far = float(np.linalg.norm(way))
        return place.rotation @ self.axis, way / far, far, place

    def compute_error(self, configuration: pink.Configuration) -> np.ndarray:
        """Return the error (3,)."""
        d, u, _, _ = self._directions(configuration)
        return d - u

    def compute_jacobian(self, configuration: pink.Configuration) -> np.ndarray:
        """Return its derivative (3, nv)."""
        d, u, far, place = self._directions(configuration)
        local = configuration.get_frame_jacobian(self.frame)
        moved, turned = place.rotation @ local[:3], place.rotation @ local[3:]
        return -pin.skew(d) @ turned + (np.eye(3) - np.outer(u, u)) @ moved / far


class Pink:
    """A case's robot in pink."""

    def __init__(self, folder: Path, case: dict, targets: dict, variant: str) -> None:
        self.case, self.targets = case, targets
        root = (pin.JointModelFreeFlyer(),) if case["floating"] else ()
        self.model = pin.buildModelFromUrdf(str(folder / "robot.urdf"), *root)
        self.now = pink.Configuration(self.model, self.model.createData(), pin.neutral(self.model))
        self.frames = {
            name: FrameTask(f"{name}_target", float(position**0.5), float((2 * orientation) ** 0.5))
            for name, (position, orientation) in case["targets"].items()
        }
        self.tasks: list = list(self.frames.values())
        self.relative = [
            RelativeFrameTask(
                f"{frame}_target", f"{other}_target", float(position**0.5), float((2 * orientation) ** 0.5)
            )
            for frame, other, position, orientation in case["relative"]
        ]
        self.looks = [LookAt(f"{frame}_target", np.array(axis), weight**0.5) for frame, axis, weight in case["look"]]
        self.tasks += [*self.relative, *self.looks]
        self.com = None
        if case["com_weight"]:
            self.com = ComTask(np.sqrt(case["com_weight"]))
            self.tasks.append(self.com)
        points = [(name, [0, 1, 2] if variant == "whole" else rows) for name, rows in case["points"]]
        self.loops = [Coincide(name, rows, HEAVY) for name, rows in points if rows]
        self.constraints = [] if variant == "soft" else self.loops
        self.tasks += self.loops if variant == "soft" else []
        self.damping = DAMPED if variant == "damped" else case["damping"]
        self.links = [self.model.getFrameId(name) for name, _ in case["bodies"]]

    def aim(self, k: int) -> None:
        """Set the targets of sample k."""
        for name, task in self.frames.items():
            task.set_target(pin.SE3(self.targets[f"{name}.rotation"][k], self.targets[f"{name}.position"][k]))
        for task in self.relative:
            task.set_target(pin.SE3(self.targets["relative.rotation"][k], self.targets["relative.position"][k]))
        for look in self.looks:
            look.target = self.targets["look.point"][k]
        if self.com is not None:
            self.com.set_target(self.targets["com"][k])

    def step(self) -> float:
        """Take one step; return its time [s]."""
        dt = self.case["dt"]
        velocity = pink.solve_ik(
            self.now,
            self.tasks,
            dt,
            "daqp",
            damping=self.damping,
            limits=[],
            constraints=self.constraints or None,
            safety_break=False,
        )
        self.now.integrate_inplace(velocity, dt)
        return float(np.abs(velocity * dt).max())

    def gap(self) -> float:
        """Return the largest distance of a loop's two ends [m]."""
        return max((float(np.linalg.norm(loop._apart(self.now).translation)) for loop in self.loops), default=0.0)

    def states(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the bodies' centres of mass (n, 3) [m] and rotations (n, 3, 3)."""
        poses = [self.now.data.oMf[i] for i in self.links]
        offsets = [np.array(offset) for _, offset in self.case["bodies"]]
        return np.array([p.act(x) for p, x in zip(poses, offsets, strict=True)]), np.array([p.rotation for p in poses])


if __name__ == "__main__":
    run(Pink)
