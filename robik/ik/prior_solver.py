"""The solver of clips with a pose prior: where the targets leave a choice, poses like an example's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..kinematics.actuation import actuator_values
from ..kinematics.frames import own_frames
from ..mechanism.model import Mechanism
from ..mechanism.orientations import quaternion_matrices
from ..objectives.objective import Objective
from ..objectives.pose_prior import WEIGHT, Attraction, PosePrior
from ..objectives.registry import over_time
from ..objectives.settings import Settings
from .memory import Output
from .solver import ClipTargets, Targets
from .standing import StandingSolver

ROUNDS = (
    60  # of the first frame, which starts in the rest pose: it may take the prior's answer to its own answer so often
)
SETTLED = 1e-4  # rad or m


class PriorSolver(StandingSolver):
    """Solver that follows targets in poses like an example's.

    Every body without a target is drawn softly to where the prior has it, seen from the frame before. `weight` is
    that of the pull, per body, beside targets that weigh 1. Raise ClipError for a prior over another number of
    actuators, or a weight that is not positive.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        names: tuple[str, ...],
        settings: Settings,
        has_com: bool,
        objectives: tuple[Objective, ...],
        prior: PosePrior,
        weight: float = WEIGHT,
    ):
        self._attraction = Attraction(mechanism, prior, names, weight)
        self._followed = len(names)
        drawn = tuple(body.name for body in mechanism.bodies if body.name not in names)
        self._drawn = [mechanism.body_index[name] for name in drawn]
        weights = {**settings.targets, **dict.fromkeys(drawn, self._attraction.pull)}
        super().__init__(mechanism, (*names, *drawn), replace(settings, targets=weights), has_com, objectives)
        self._rest = mechanism.actuator_rest

    def compile_targets(self, targets: Targets, com: np.ndarray | None, times: np.ndarray) -> ClipTargets:
        unknown = np.zeros((len(times), 3)), np.tile([1.0, 0.0, 0.0, 0.0], (len(times), 1))
        return super().compile_targets({**targets, **dict.fromkeys(self.names[self._followed :], unknown)}, com, times)

    def solve(self, output: Output, start: int, stop: int, clip_targets: ClipTargets) -> None:
        frames = self._tables.frame_pose
        position, rotation = (
            over_time(self._tables, clip_targets.targets, own) for own in (frames.position, frames.rotation)
        )
        for k in range(start, stop):
            values, places, turns = self._before(output, k)
            for _ in range(1 if k else ROUNDS):
                likely = self._attraction.poses(values, places, turns)
                position[k, self._followed :] = likely[0][self._drawn]
                rotation[k, self._followed :] = quaternion_matrices(likely[1][self._drawn])
                super().solve(output, k, k + 1, clip_targets)
                last, (values, places, turns) = values, self._before(output, k + 1)
                if np.abs(values - last).max(initial=0.0) < SETTLED:
                    break

    def _before(self, output: Output, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the actuators' values (A,) in the frame before k, and the bodies' own frames (n, 3) and (n, 4)."""
        if k == 0:
            poses = [body.pose for body in self.mechanism.bodies]
            return self._rest, np.array([p.position for p in poses]), np.array([p.quaternion for p in poses])
        states = output.position[k - 1 : k], output.quaternion[k - 1 : k]
        places, turns = own_frames(self.topology, *states)
        return actuator_values(self.topology, output.q[k - 1 : k], *states)[0], places[0], turns[0]
