"""Posture and stillness: weak pulls that choose a pose where targets leave freedom, the same at any sample rate.

    f = ½ p Σᵢ μᵢ (qᵢ − q°ᵢ)² + (c / Δt) ½ Σ_b μ_b |s_b − s̄_b|²,   μ = 1 + γ F / (1 + F / F₀)

q° is the rest pose of the motors, s̄ the state before. F is the sum of the targets' objectives there. Each cluster (a
joint, or the joints that a loop ties together) has its own F: of the frames that it moves, and of objectives of the
whole robot such as the centre of mass. So a hand within reach is met even if the torso misses its target.

Posture p and stillness c [s] are so weak that a reachable target is met. If targets compete or cannot be reached, both
grow with F (Levenberg-Marquardt with a damping in proportion to the error; Sugihara, T-RO 2011), so that no joint
swings to gain micrometres. Without targets a motor returns to rest within c / p seconds, for any Δt.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import by_reference, kernel
from ..mechanism.topology import Topology
from .posture import Postures, drawable_coordinates, new_postures

DAMPING = 1e8  # γ: growth of both weights with F
FAR = 4e-5  # F₀: beyond it the weights hardly grow, or a robot that is far off would never catch up
MUCH_LESS = 0.25  # share of μ: where less is needed, the frame is solved again with that
FIRST = 1.0 / 60.0  # time step that is assumed for the first frame [s]


class Calm(NamedTuple):
    """Posture and stillness of a frame, in compiled form."""

    posture: Postures  # of the motors' coordinates
    unit: np.ndarray  # (t,) factor of each: 1 for angles, 1/ℓ² for lengths
    weight: np.ndarray  # (4,) p; c for rotations [s]; c/ℓ² for positions [s/m²]; 1 where both act, else 0
    dt: np.ndarray  # (1,) time step into the frame [s]
    missed: np.ndarray  # (clusters,) scratch
    factor: np.ndarray  # (clusters,) μ


def table(topology: Topology) -> Calm:
    """Return a robot's posture and stillness as arrays for the kernels, with weights of zero."""
    drawable = set(drawable_coordinates(topology.mechanism))
    values = zip(topology.mechanism.actuators, topology.mechanism.actuator_rest, strict=True)
    rest = {name: value for name, value in values if name in drawable}
    postures = new_postures(topology, tuple(rest), np.array(list(rest.values())))
    k = len(topology.flat.cluster_on)
    return by_reference(Calm(postures, np.ones(len(rest)), np.zeros(4), np.full(1, np.inf), np.zeros(k), np.ones(k)))


def set_weights(calm: Calm, posture: float, stillness: float, per_square_metre: float) -> None:
    """Set the weights of posture and stillness.

    Posture draws to the rest pose, stillness, times the time step [s], to the previous state. `per_square_metre` is
    1/ℓ² [1/m²].
    """
    calm.unit[:] = np.where(calm.posture.length == 1, per_square_metre, 1.0)
    calm.weight[:] = posture, stillness, stillness * per_square_metre, 1.0


@kernel
def _damping(missed):
    """Return μ."""
    return 1.0 + DAMPING * missed / (1.0 + missed / FAR)


@kernel
def begin(flat, calm, state, missed):
    """Set the weights of a frame from each cluster's objectives (clusters,) in the frame before."""
    if calm.weight[3] == 0.0:
        return
    for c in range(missed.shape[0]):
        calm.factor[c] = _damping(missed[c])
    _scale(flat, calm, state)


@kernel
def draw(flat, calm, state, factor):
    """Set all clusters' weights of posture and stillness to `factor` (μ) times those of a cluster without error."""
    calm.factor[:] = factor
    _scale(flat, calm, state)


@kernel
def departure(flat, calm, now):
    """Return Σ (q - q°)² [rad²] over the motors, and the largest |q - q°| [rad]; lengths in units of ℓ."""
    total, largest = 0.0, 0.0
    for t in range(calm.unit.shape[0]):
        off = now.q[flat.dof_q[calm.posture.dof[t]]] - calm.posture.sign[t] * calm.posture.target[t]
        square = calm.unit[t] * off * off
        total += square
        largest = max(largest, square)
    return total, np.sqrt(largest)


@kernel
def loosen(flat, calm, state):
    """Weaken posture and stillness of each cluster whose error is much less than its weights assume.

    Errors (clusters,) stand in `calm.missed`. Return True if there is such a cluster.
    """
    found = False
    for c in range(calm.missed.shape[0]):
        needed = _damping(calm.missed[c])
        if needed <= MUCH_LESS * calm.factor[c]:
            calm.factor[c] = needed
            found = True
    if found:
        _scale(flat, calm, state)
    return found


@kernel
def _scale(flat, calm, state):
    """Set the weights of posture and stillness from the clusters' factors μ."""
    dt = calm.dt[0] if calm.dt[0] < np.inf else FIRST
    for b in range(1, flat.bodies + 1):
        factor = calm.factor[flat.cluster_of[b]] if flat.cluster_of[b] >= 0 else 1.0
        state.weight[b, 0] = factor * calm.weight[1] / dt
        state.weight[b, 1] = factor * calm.weight[2] / dt
    for t in range(calm.unit.shape[0]):
        calm.posture.weight[t] = calm.factor[flat.cluster_of_dof[calm.posture.dof[t]]] * calm.weight[0] * calm.unit[t]
