"""`limited_runner.py CASE_FOLDER RESULT.npz WAY`: mink within limits of its motors' speeds, or accelerations, too.

mink has limits of speed per solve. A frame takes several solves, so they are made as its documentation says, as bounds
of what a motor has turned by since the frame before. Acceleration is bounded alike, by the frame before that.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import process_time

import mink
import numpy as np
from mink_runner import Mink
from stepping import CLOSED, MOST, STEP, load


class MotorLimit(mink.Limit):
    """Limits of the motors' speeds, and of their accelerations: none has a way that its limits leave open."""

    def __init__(self, dofs: list[int], speed: np.ndarray, acceleration: np.ndarray, dt: float) -> None:
        self.dofs, self.speed, self.acceleration, self.dt = dofs, speed * dt, acceleration * dt**2, dt
        self.before, self.turned = np.zeros((2, len(dofs)))  # in the frame before, and since

    def begin(self) -> None:
        """Begin a frame."""
        self.before, self.turned = self.turned, np.zeros(len(self.dofs))

    def compute_qp_inequalities(self, configuration: mink.Configuration, dt: float) -> mink.limits.Constraint:
        """Return what the motors may turn by in this solve, as rows."""
        rows = np.zeros((len(self.dofs), configuration.model.nv))
        rows[np.arange(len(self.dofs)), self.dofs] = 1.0
        high = np.minimum(self.speed, self.before + self.acceleration) - self.turned
        low = np.maximum(-self.speed, self.before - self.acceleration) - self.turned
        return mink.limits.Constraint(G=np.concatenate([rows, -rows]), h=np.concatenate([high, -low]))


class Limited(Mink):
    """mink on a case, within limits."""

    def __init__(self, folder: Path, case: dict, targets: dict, way: str) -> None:
        super().__init__(folder, case, targets, "hard")
        dofs = [int(self.model.joint(name).dofadr[0]) for name in case["motors"]]
        speed, acceleration = np.array(case["speeds"]), np.full(len(dofs), case["acceleration"])
        if way != "acceleration":
            acceleration = np.full(len(dofs), np.inf)
        self.limit, self.dofs = MotorLimit(dofs, speed, acceleration, case["dt"]), dofs

    def step(self) -> float:
        """Take one solve within the limits; return the largest change of a coordinate."""
        dt = self.case["dt"]
        velocity = mink.solve_ik(
            self.now, self.tasks, dt, "daqp", damping=self.damping, limits=[self.limit],
            constraints=self.constraints or None,
        )  # fmt: skip
        self.now.integrate_inplace(velocity, dt)
        self.limit.turned += velocity[self.dofs] * dt
        return float(np.abs(velocity * dt).max())


def main() -> None:
    """Follow the case and write coordinates, processor time and frames that failed."""
    folder, result, way = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    case, targets = load(folder)
    peer = Limited(folder, case, targets, way)
    q, failed, began = np.zeros((case["frames"], peer.model.nq)), 0, process_time()
    for k in range(case["frames"]):
        peer.aim(k)
        peer.limit.begin()
        if k == 0:
            peer.limit.speed, first = np.full(len(peer.dofs), np.inf), peer.limit.speed
        try:
            for _ in range(MOST):
                if peer.step() <= STEP and peer.gap() <= CLOSED:
                    break
        except Exception:  # what a library raises is a result here
            failed += 1
        if k == 0:
            peer.limit.speed, peer.limit.turned = first, np.zeros(len(peer.dofs))
        q[k] = peer.now.q
    np.savez(result, q=q, seconds=process_time() - began, failed=failed)


if __name__ == "__main__":
    main()
