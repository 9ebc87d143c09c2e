"""Results of the reference, and its model of a problem at a state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True)
class ReferenceResult:
    """A solved frame.

    Attributes:
        state: (n, 7).
        objective: its value there.
        constraint_residual: largest of all rows [m].
        iterations: of the solver.
        converged: whether the next step would be below what rounding leaves of it.
        stationarity: largest entry of the gradient along the constraints.
        curvature: smallest eigenvalue of the Hessian along the constraints; the optimum is sharp where it is well above
            zero.
        flexibility: smallest singular value of the constraints that counts, by the largest; near zero at a singular
            pose of the loops.
    """

    state: np.ndarray
    objective: float
    constraint_residual: float
    iterations: int
    converged: bool
    stationarity: float
    curvature: float
    flexibility: float


@dataclass
class Model:
    """The problem to second order at an assembled state.

    Attributes:
        null: basis (7 n, m) of the moves that keep the constraints.
        inverse: pseudoinverse of the constraints' Jacobian.
        flexibility: smallest singular value that counts, by the largest.
        multipliers: of least squares, (rows + n,).
        slope: gradient along the basis (m,).
        bends, modes: eigenvalues and eigenvectors of the Lagrangian's Hessian along it.
    """

    null: np.ndarray
    inverse: np.ndarray
    flexibility: float
    multipliers: np.ndarray
    slope: np.ndarray
    bends: np.ndarray
    modes: np.ndarray

    def newton(self, slope: np.ndarray) -> np.ndarray:
        """Return the step along the basis that takes a slope to zero, downhill where the Hessian bends down."""
        return -(self.modes @ ((self.modes.T @ slope) / np.maximum(np.abs(self.bends), 1e-12)))
