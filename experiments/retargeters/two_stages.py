"""mink in two stages a frame, with weights for each: `two_stages.py FOLDER RESULT.npz`. Runs without RobIK.

Each stage steps while that lessens its error by more than 0.001, at most eleven times, damped by 0.5, within the
joints' limits, by daqp: what GMR does.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import process_time

import mink
import mujoco
import numpy as np

DAMPING, LESS, MOST = 0.5, 1e-3, 10


class Stage:
    """One stage: tasks that follow bodies, by weights of position and orientation; one without weight is left out."""

    def __init__(self, weights: dict[str, tuple[float, float]]) -> None:
        self.tasks = {
            body: mink.FrameTask(body, "body", position, orientation, lm_damping=1.0)
            for body, (position, orientation) in weights.items()
            if position or orientation
        }

    def aim(self, targets: dict[str, np.ndarray], k: int) -> None:
        """Set the targets of sample k."""
        for body, task in self.tasks.items():
            rotation = mink.SO3.from_matrix(targets[f"{body}.rotation"][k])
            task.set_target(mink.SE3.from_rotation_and_translation(rotation, targets[f"{body}.position"][k]))

    def error(self, now: mink.Configuration) -> float:
        """Return the norm of all errors."""
        return float(np.linalg.norm(np.concatenate([task.compute_error(now) for task in self.tasks.values()])))

    def solve(self, now: mink.Configuration, limits: list) -> None:
        """Step until that lessens the error no more."""
        tasks, dt = list(self.tasks.values()), now.model.opt.timestep
        before = self.error(now)
        for _ in range(MOST + 1):
            now.integrate_inplace(mink.solve_ik(now, tasks, dt, "daqp", DAMPING, limits=limits), dt)
            after = self.error(now)
            if before - after <= LESS:
                return
            before = after


def main(folder: Path, result: Path) -> None:
    """Follow the targets and write joints and seconds."""
    case = json.loads((folder / "case.json").read_text())
    with np.load(folder / "targets.npz") as file:
        targets = {key: file[key] for key in file.files}
    model = mujoco.MjModel.from_xml_path(case["robot"])
    now = mink.Configuration(model)
    limits = [mink.ConfigurationLimit(model)]
    stages = [Stage({body: tuple(w[2 * n : 2 * n + 2]) for body, w in case["weights"].items()}) for n in range(2)]
    start = now.q.copy()
    start[:3] = targets["pelvis.position"][0]
    mujoco.mju_mat2Quat(start[3:7], targets["pelvis.rotation"][0].ravel())
    now.update(start)
    frames = len(targets["pelvis.position"])
    qpos, seconds = np.zeros((frames, model.nq)), np.zeros(frames)
    for k in range(frames):
        began = process_time()
        for stage in stages:
            stage.aim(targets, k)
            stage.solve(now, limits)
        seconds[k] = process_time() - began
        qpos[k] = now.q
    np.savez(result, qpos=qpos, seconds=seconds)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
