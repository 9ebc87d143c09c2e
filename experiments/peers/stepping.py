"""Parts that all runners share: the loop over frames, its clock, and the files. Runs without RobIK."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import process_time
from typing import Any, Protocol

import numpy as np

CLOSED = 1e-10  # m, the tolerance of closure
STEP = 1e-6  # rad or m: a step so small is the last one, as RobIK has it
MOST = 20  # steps for a frame


class Peer(Protocol):
    """A library that follows a case."""

    def aim(self, k: int) -> None:
        """Set the targets of frame k."""

    def step(self) -> float:
        """Return one step of its inverse kinematics; returns the largest change of a coordinate [rad or m]."""

    def gap(self) -> float:
        """Largest distance of two points that are to coincide [m]."""

    def states(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the bodies' centres of mass (n, 3) and rotations (n, 3, 3) from the rest pose, in the case's order."""


def load(folder: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the case and its targets."""
    with np.load(folder / "targets.npz") as file:
        return json.loads((folder / "case.json").read_text()), {key: file[key] for key in file.files}


def run(make: Any) -> None:
    """`RUNNER.py CASE_FOLDER RESULT.npz VARIANT`: follows the case and writes the result."""
    folder, result, variant = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    case, targets = load(folder)
    peer: Peer = make(folder, case, targets, variant)
    frames, n = case["frames"], len(case["bodies"])
    com, rotation = np.zeros((frames, n, 3)), np.zeros((frames, n, 3, 3))
    seconds, iterations, failed = np.zeros(frames), np.zeros(frames, int), np.zeros(frames, bool)
    why = ""
    for k in range(frames):
        begin = process_time()
        peer.aim(k)
        converged = False
        try:
            for iteration in range(1, MOST + 1):
                iterations[k] = iteration
                if peer.step() <= STEP and peer.gap() <= CLOSED:
                    converged = True
                    break
        except Exception as error:  # what a library raises is a result here
            why = why or f"{type(error).__name__}: {error}"
        seconds[k], failed[k] = process_time() - begin, not converged
        com[k], rotation[k] = peer.states()
    np.savez(
        result, com=com, rotation=rotation, seconds=seconds, iterations=iterations, failed=failed, why=np.array(why)
    )
