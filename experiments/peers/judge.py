"""Judgement of how well a case was followed, from the bodies' poses alone, by the reference's equations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.oracle.reference import ReferenceSolver
from experiments.oracle.reference_asked import terms
from experiments.peers.cases import Case
from robik.mechanism.pose import matrix_quaternion, quaternion_matrix
from robik.motions import Motion
from robik.objectives.look_at import LookAt
from robik.objectives.objective import Objective
from robik.objectives.relative_frame import RelativeFrame


@dataclass(frozen=True)
class Verdict:
    """Of a case as one library followed it.

    Attributes:
        milliseconds: of processor time per frame, median; `mean`, `late` (99th percentile) and `longest` likewise.
        iterations: per frame, mean; `most_iterations`, most.
        position_error, orientation_error, com_error: largest [m], [rad], [m]; NaN where there is no such target.
        objective: mean over the frames of f_IK (paper, IV-B).
        closure: largest residual of a joint [m]; rotations count by the robot's size.
        jump: largest turn of a body from frame to frame [rad].
        failed: frames that did not converge, or in which it raised an error; `why`, the first such error.
    """

    library: str
    milliseconds: float
    mean: float
    late: float
    longest: float
    iterations: float
    most_iterations: int
    position_error: float
    orientation_error: float
    com_error: float
    objective: float
    closure: float
    jump: float
    failed: int
    why: str


def poses_of(case: Case, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """Return the bodies' centres of mass (T, n, 3) and rotations from the rest pose (T, n, 3, 3) of a motion."""
    solver = ReferenceSolver(case.mechanism, case.settings)
    assert motion.position is not None and motion.quaternion is not None
    states = [
        solver.state_of(p, q, solver.rest_state()) for p, q in zip(motion.position, motion.quaternion, strict=True)
    ]
    return np.array([s[:, :3] for s in states]), np.array([_rotations(s) for s in states])


def _com_error(case: Case, com: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the objective (T,) of the centre of mass, and its largest error [m], NaN without a target."""
    if case.clip.com is None:
        return np.zeros(len(com)), np.nan
    masses = np.array([body.mass for body in case.mechanism.bodies])
    apart = np.einsum("n,tni->ti", masses / masses.sum(), com) - case.clip.com
    weight = np.array(case.settings.com_weight)
    return 0.5 * apart**2 @ weight, float(np.linalg.norm(apart[:, weight > 0], axis=1).max())


def judge(case: Case, library: str, com: np.ndarray, rotation: np.ndarray, seconds: np.ndarray, iterations: np.ndarray,
          failed: np.ndarray, why: str) -> Verdict:  # fmt: skip
    """Judge the bodies of a mechanism, in its order.

    Centres of mass (T, n, 3) [m] and rotations (T, n, 3, 3) from the rest pose.
    """
    mechanism, settings, clip = case.mechanism, case.settings, case.clip
    solver = ReferenceSolver(mechanism, settings)
    quaternion = np.array([[matrix_quaternion(R) for R in frame] for frame in rotation])
    states = np.concatenate([com, quaternion], axis=2)
    closure = max(float(np.abs(solver.constraints.value(state)).max(initial=0.0)) for state in states)
    off, turned, objective = [], [], np.zeros(len(clip.times))
    for name, track in clip.tracks.items():
        assert track.position is not None and track.quaternion is not None
        weights = settings.weights(name)
        x, R = _frame(case, name, com, rotation)
        wanted = np.array([quaternion_matrix(q) for q in track.quaternion])
        off.append(np.linalg.norm(x - track.position, axis=1))
        if any(weights.orientation):
            turned.append(_angles(R, wanted))
        objective += 0.5 * (x - track.position) ** 2 @ np.array(weights.position)
        objective += 0.5 * np.sum((R - wanted) ** 2, axis=1) @ np.array(weights.orientation)
    for item in clip.objectives:
        turned.append(_asked(case, item, com, rotation, off))
        objective += [terms(solver, (item,), k)[0].value(state) for k, state in enumerate(states)]
    com_objective, com_error = _com_error(case, com)
    objective += com_objective
    return Verdict(
        library=library,
        milliseconds=1e3 * float(np.median(seconds)),
        mean=1e3 * float(np.mean(seconds)),
        late=1e3 * float(np.percentile(seconds, 99)),
        longest=1e3 * float(seconds.max()),
        iterations=float(iterations.mean()),
        most_iterations=int(iterations.max()),
        position_error=float(np.max(off)),
        orientation_error=float(np.max(turned)),
        com_error=com_error,
        objective=float(objective.mean()),
        closure=closure,
        jump=_jump(rotation),
        failed=int(failed.sum()),
        why=why,
    )  # fmt: skip


def _jump(rotation: np.ndarray) -> float:
    """Return the largest turn of a body between two frames [rad] by rotations (T, n, 3, 3)."""
    between = np.linalg.norm(np.diff(rotation, axis=0), axis=(2, 3)) / np.sqrt(8.0)
    return float(2 * np.arcsin(np.minimum(1.0, between)).max())


def _asked(case: Case, item: Objective, com: np.ndarray, rotation: np.ndarray, off: list[np.ndarray]) -> np.ndarray:
    """Return the angles (T,) by which an objective is missed [rad]; what it is off by is added to a list [m]."""
    if isinstance(item, RelativeFrame):
        (x, R), (origin, axes) = (_frame(case, name, com, rotation) for name in (item.frame, item.other))
        seen = np.einsum("tji,tj->ti", axes, x - origin)
        off.append(np.linalg.norm(seen - item.position, axis=1))
        assert item.quaternion is not None
        return _angles(np.swapaxes(axes, 1, 2) @ R, np.array([quaternion_matrix(q) for q in item.quaternion]))
    assert isinstance(item, LookAt)
    x, R = _frame(case, item.frame, com, rotation)
    way = item.point - x
    cosine = np.einsum("ti,ti->t", R @ np.array(item.axis), way) / np.linalg.norm(way, axis=1)
    return np.arccos(np.clip(cosine, -1.0, 1.0))


def _frame(case: Case, name: str, com: np.ndarray, rotation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a frame's origin (T, 3) [m] and axes (T, 3, 3)."""
    mechanism = case.mechanism
    frame = mechanism.frame(name)
    b = mechanism.body_index[frame.body]
    rest = mechanism.bodies[b].pose @ frame.pose
    return (
        com[:, b] + rotation[:, b] @ (np.array(rest.position) - mechanism.bodies[b].rest_com),
        rotation[:, b] @ rest.matrix,
    )


def _angles(R: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the angles (T,) between orientations (T, 3, 3) [rad]."""
    return 2 * np.arcsin(np.minimum(1.0, np.linalg.norm(R - wanted, axis=(1, 2)) / np.sqrt(8.0)))


def _rotations(state: np.ndarray) -> np.ndarray:
    return np.array([quaternion_matrix(q) for q in state[:, 3:]])
