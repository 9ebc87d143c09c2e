"""Reasons why frames miss their targets: limits that they are on, and motors that are as fast as they may be."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ..clips.clip import TargetClip
from ..ik.solver import Solver
from ..ik.sqp import CONVERGED
from ..mechanism.ball_limits import limit_names
from ..motions import Report
from ..objectives.settings import Settings
from ..report.judging import make_report
from .solved import Reading, SolvedFrames


class Reasons:
    """Reasons of solved frames against their clip."""

    def __init__(self, solver: Solver, solved: SolvedFrames, clip: TargetClip, settings: Settings):
        self._solver, self._solved, self._clip, self._settings = solver, solved, clip, settings

    def report(self, found: Reading, are_there: bool, **more: Any) -> Report:
        """Return the report of what was read off the frames; `are_there` says whether they will stay as they are."""
        out = self._solved
        (errors, asked), figures = out.judge(found.com)
        if are_there:
            more["hold"] = lambda: out.hold(found.values, found.base)
        stopped = np.flatnonzero(out.status != CONVERGED).tolist()
        followed = self._solver.mechanism, self._clip, self._settings
        made = make_report(*followed, found.values, errors, asked, figures, self._why, stopped)
        return replace(made, residual=out.residual.copy(), iterations=out.iterations.copy(), **more)

    def _why(self, k: int, found: list[str]) -> str:
        """Return what was missed in a frame, and why, in words."""
        if found and (at_limit := self.at_limit(k)):
            found.append(f"at its limit: {', '.join(at_limit)}")
        if found and (slow := self._held_back(k)):
            found.append(f"held back by the speed of {', '.join(slow)}")
        if self._solved.status[k] != CONVERGED:
            found.append("the solver stopped before the optimum")
        return "; ".join(found)

    def at_limit(self, k: int) -> list[str]:
        """Return the coordinates on a limit in a frame, passive ones too, without those that may not move at all."""
        if not self._settings.joint_limits:
            return []
        names, at, low, high = self._limited
        q = self._solved.q[k, at]
        return [names[i] for i in np.flatnonzero((q <= low + 1e-9) | (q >= high - 1e-9))]

    @cached_property
    def _limited(self) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
        """The coordinates that may move and have limits: names, places in q, and limits."""
        topology, flat = self._solver.topology, self._solver.topology.flat
        joints = self._solver.mechanism.joints
        every = (name for joint in joints for name in (*joint.coordinate_names, *limit_names(joint)))
        dofs = {name: topology.dofs[name][0] for name in every if name in topology.dofs}
        names = [name for name, dof in dofs.items() if flat.lower[dof] < flat.upper[dof]]
        chosen = np.array([dofs[name] for name in names], dtype=int)
        return names, flat.dof_q[chosen], flat.lower[chosen], flat.upper[chosen]

    def _held_back(self, k: int) -> list[str]:
        """Return the actuators that go into frame k as fast as they may, where they are kept to it."""
        if k == 0:
            return []
        q, dt = self._solved.q, self._clip.times[k] - self._clip.times[k - 1]
        names, at, speed = self._bounded
        fast = np.abs(q[k, at] - q[k - 1, at]) > (1 - 1e-6) * speed * dt
        return self._solver.balls_at_full_speed(q[k], dt) + [names[i] for i in np.flatnonzero(fast)]

    @cached_property
    def _bounded(self) -> tuple[list[str], np.ndarray, np.ndarray]:
        """The actuators that are coordinates: names, places in q, and speeds."""
        topology = self._solver.topology
        names = [name for name in self._solver.mechanism.actuators if name in topology.dofs]
        dofs = np.array([topology.dofs[name][0] for name in names], dtype=int)
        return names, topology.flat.dof_q[dofs], self._solver.speed[dofs]
