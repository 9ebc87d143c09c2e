"""mink, with loops closed as its documentation offers.

As hard constraints (`hard`), as a heavy task (`soft`), or hard and damped (`damped`).

MuJoCo's equality constraints have all three rows of a point: left out are points that say nothing new, but where
`whole`.
"""

from __future__ import annotations

from pathlib import Path

import mink
import mujoco
import numpy as np
from stepping import run

HEAVY = 1e3  # cost of the loops' task, per metre
DAMPED = 1e-2


class LookAt(mink.Task):
    """An axis of a site points at a point: mink has no such task, so it is made as its documentation says.

    The error is d − u; d is the axis's direction and u that from the site to the point.
    """

    def __init__(self, model: mujoco.MjModel, site: str, axis: np.ndarray, cost: float) -> None:
        super().__init__(cost=np.full(3, cost))
        self.model, self.site, self.axis, self.target = model, model.site(site).id, axis, np.zeros(3)

    def _directions(self, now: mink.Configuration) -> tuple[np.ndarray, np.ndarray, float]:
        way = self.target - now.data.site_xpos[self.site]
        far = float(np.linalg.norm(way))
        return now.data.site_xmat[self.site].reshape(3, 3) @ self.axis, way / far, far

    def compute_error(self, configuration: mink.Configuration) -> np.ndarray:
        """Return the error (3,)."""
        d, u, _ = self._directions(configuration)
        return d - u

    def compute_jacobian(self, configuration: mink.Configuration) -> np.ndarray:
        """Return its derivative (3, nv)."""
        d, u, far = self._directions(configuration)
        moved, turned = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
        mujoco.mj_jacSite(self.model, configuration.data, moved, turned, self.site)
        return np.cross(turned.T, d).T + (np.eye(3) - np.outer(u, u)) @ moved / far


class Mink:
    """A case's robot in mink."""

    def __init__(self, folder: Path, case: dict, targets: dict, variant: str) -> None:
        self.case, self.targets = case, targets
        self.model = mujoco.MjModel.from_xml_path(str(folder / "robot.xml"))
        self.now = mink.Configuration(self.model)
        self.frames = {
            name: mink.FrameTask(f"{name}_target", "site", position**0.5, (2 * orientation) ** 0.5)
            for name, (position, orientation) in case["targets"].items()
        }
        self.tasks: list = list(self.frames.values())
        self.relative = [
            mink.RelativeFrameTask(
                f"{frame}_target", "site", f"{other}_target", "site", position**0.5, (2 * orientation) ** 0.5
            )
            for frame, other, position, orientation in case["relative"]
        ]
        self.looks = [
            LookAt(self.model, f"{frame}_target", np.array(axis), weight**0.5) for frame, axis, weight in case["look"]
        ]
        self.tasks += [*self.relative, *self.looks]
        self.com = None
        if case["com_weight"]:
            self.com = mink.ComTask(np.sqrt(case["com_weight"]))
            self.tasks.append(self.com)
        self.constraints = []
        points = [name for name, rows in case["points"] if rows or variant == "whole"]
        if points and variant == "soft":
            self.tasks.append(mink.EqualityConstraintTask(self.model, HEAVY, points))
        elif points:
            self.constraints = [mink.EqualityConstraintTask(self.model, 1.0, points)]
        self.damping = DAMPED if variant == "damped" else case["damping"]
        self.sites = [[self.model.site(f"{name}_{end}").id for end in "ab"] for name, _ in case["points"]]
        self.bodies = [self.model.body(name).id for name, _ in case["bodies"]]

    def aim(self, k: int) -> None:
        """Set the targets of sample k."""
        for name, task in self.frames.items():
            rotation = mink.SO3.from_matrix(self.targets[f"{name}.rotation"][k])
            task.set_target(mink.SE3.from_rotation_and_translation(rotation, self.targets[f"{name}.position"][k]))
        for task in self.relative:
            rotation = mink.SO3.from_matrix(self.targets["relative.rotation"][k])
            task.set_target(mink.SE3.from_rotation_and_translation(rotation, self.targets["relative.position"][k]))
        for look in self.looks:
            look.target = self.targets["look.point"][k]
        if self.com is not None:
            self.com.set_target(self.targets["com"][k])

    def step(self) -> float:
        """Take one step; return its time [s]."""
        dt = self.case["dt"]
        velocity = mink.solve_ik(
            self.now, self.tasks, dt, "daqp", damping=self.damping, limits=[], constraints=self.constraints or None
        )
        self.now.integrate_inplace(velocity, dt)
        return float(np.abs(velocity * dt).max())

    def gap(self) -> float:
        """Return the largest distance of a loop's two ends [m]."""
        place = self.now.data.site_xpos
        return max((float(np.linalg.norm(place[a] - place[b])) for a, b in self.sites), default=0.0)

    def states(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the bodies' centres of mass (n, 3) [m] and rotations (n, 3, 3)."""
        rotation = self.now.data.xmat[self.bodies].reshape(-1, 3, 3)
        offsets = np.array([offset for _, offset in self.case["bodies"]])
        return self.now.data.xpos[self.bodies] + np.einsum("nij,nj->ni", rotation, offsets), rotation


if __name__ == "__main__":
    run(Mink)
