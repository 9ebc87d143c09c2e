"""Frame pose: a frame of the robot at a position and an orientation in the world (paper, IV-B).

    f = ½ Σₖ w_pos,ₖ (xₖ − x̂ₖ)²/ℓ²  +  Σₐ w_ori,ₐ (1 − R a · â)

x is the frame's origin, k an axis of the world, R a the direction of the frame's axis a in the world, and x̂, â are the
targets. Orientation weight a acts on the direction of axis a, not on turns about it.

On its way to a contact and from it a frame is also asked for what the contact holds: a point of it, such as the middle
of a sole, with all axes of the position alike, and the directions of the contact's axes.

The residuals x − x̂ and R a − â (1 − R a · â = ½ |R a − â|²) give the Gauss-Newton part, the forces that they exert on
the body the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..jit import by_reference, inlined, kernel
from ..kinematics.frames import anchor
from ..kinematics.kernels import rotate
from ..kinematics.rotations import cross
from ..mechanism.topology import Topology
from .rows import RowKind
from .terms import add_point, add_stiffness, moved

ROW = RowKind(
    key="POSE",
    label="Position and Rotation",
    about="A frame of the robot goes where a part of the character, or an object, is, and turns with it",
    fields=(
        ("source", "Follow"),
        ("frame", "Robot Frame"),
        ("axes", "Weights by axis"),
        ("offset", "Robot frame against what it follows"),
    ),
    needs=("frame", "source"),
)


class FramePoses(NamedTuple):
    """The t followed frames, in compiled form."""

    body: np.ndarray  # (t,) that carries the frame
    point: np.ndarray  # (t, 3) its origin in the body's state frame [m]
    axes: np.ndarray  # (t, 3, 3) its axes there, in columns
    position_weight: np.ndarray  # (t, 3) along the world's axes, over ℓ²
    orientation_weight: np.ndarray  # (t, 3) of the directions of the frame's axes
    position: np.ndarray  # (t, 3) target [m]
    rotation: np.ndarray  # (t, 3, 3) target
    tension: np.ndarray  # (t, 4) weights of what a contact holds: of its point, over ℓ², and of its three axes
    held_point: np.ndarray  # (t, 3) that point in the body's state frame [m]
    held_axes: np.ndarray  # (t, 3, 3) those axes there, in columns
    own_point: np.ndarray  # (t, 3) the point in the frame's own coordinates [m]
    own_axes: np.ndarray  # (t, 3, 3) the axes there, in columns


@kernel
def add_value(now, frames, total):
    """Return `total` with the objective added."""
    for t in range(frames.body.shape[0]):
        total = add_frame_value(now, frames, t, total)
    return total


@inlined
def add_frame_value(now, frames, t, total):
    """Return `total` with the objective of frame target t added."""
    R, c = now.R[frames.body[t]], now.c[frames.body[t]]
    px, py, pz = rotate(R, frames.point[t])
    ex = px + c[0] - frames.position[t, 0]
    ey = py + c[1] - frames.position[t, 1]
    ez = pz + c[2] - frames.position[t, 2]
    w = frames.position_weight[t]
    total += 0.5 * (w[0] * ex * ex + w[1] * ey * ey + w[2] * ez * ez)
    for a in range(3):
        wa = frames.orientation_weight[t, a]
        if wa != 0.0:
            dx, dy, dz = rotate(R, frames.axes[t, :, a])
            dx, dy, dz = dx - frames.rotation[t, 0, a], dy - frames.rotation[t, 1, a], dz - frames.rotation[t, 2, a]
            total += 0.5 * wa * (dx * dx + dy * dy + dz * dz)
    return _add_held_value(R, c, frames, t, total) if _is_tense(frames.tension[t]) else total


@inlined
def _is_tense(tension):
    """Return whether a frame is asked for what its contact holds."""
    return tension[0] != 0.0 or tension[1] != 0.0 or tension[2] != 0.0 or tension[3] != 0.0


@kernel
def _add_held_value(R, c, frames, t, total):
    """Return `total` with the part added that asks frame t for what its contact holds."""
    px, py, pz = rotate(R, frames.held_point[t])
    ax, ay, az = rotate(frames.rotation[t], frames.own_point[t])
    ex = px + c[0] - frames.position[t, 0] - ax
    ey = py + c[1] - frames.position[t, 1] - ay
    ez = pz + c[2] - frames.position[t, 2] - az
    total += 0.5 * frames.tension[t, 0] * (ex * ex + ey * ey + ez * ez)
    for a in range(3):
        wa = frames.tension[t, 1 + a]
        if wa != 0.0:
            dx, dy, dz = rotate(R, frames.held_axes[t, :, a])
            ax, ay, az = rotate(frames.rotation[t], frames.own_axes[t, :, a])
            dx, dy, dz = dx - ax, dy - ay, dz - az
            total += 0.5 * wa * (dx * dx + dy * dy + dz * dz)
    return total


@kernel
def add_terms(now, frames, terms, share):
    """Add forces and stiffness to the bodies: with a `share` of 1 of the forces exact, with 0 Gauss-Newton's."""
    for t in range(frames.body.shape[0]):
        b = frames.body[t]
        R, c, ahead = now.R[b], now.c[b], terms.ahead[b]
        px, py, pz = rotate(R, frames.point[t])
        px, py, pz = px + c[0], py + c[1], pz + c[2]
        w, aim = frames.position_weight[t], frames.position[t]
        x, y, z = moved(ahead, px, py, pz)
        ex, ey, ez = x - aim[0], y - aim[1], z - aim[2]
        add_point(terms, b, px, py, pz, share * w[0] * ex, share * w[1] * ey, share * w[2] * ez)
        add_stiffness(terms, b, px, py, pz, w[0], w[1], w[2])
        for a in range(3):
            wa = frames.orientation_weight[t, a]
            if wa != 0.0:
                _add_direction(terms, b, rotate(R, frames.axes[t, :, a]), frames.rotation[t, :, a], wa, share)
        if _is_tense(frames.tension[t]):
            _add_held_terms(now, frames, t, terms, share)


@kernel
def _add_held_terms(now, frames, t, terms, share):
    """Add forces and stiffness of what asks frame t for what its contact holds."""
    b, aim, w = frames.body[t], frames.position[t], frames.tension[t, 0]
    R, c = now.R[b], now.c[b]
    px, py, pz = rotate(R, frames.held_point[t])
    px, py, pz = px + c[0], py + c[1], pz + c[2]
    ax, ay, az = rotate(frames.rotation[t], frames.own_point[t])
    x, y, z = moved(terms.ahead[b], px, py, pz)
    ex, ey, ez = x - aim[0] - ax, y - aim[1] - ay, z - aim[2] - az
    add_point(terms, b, px, py, pz, share * w * ex, share * w * ey, share * w * ez)
    add_stiffness(terms, b, px, py, pz, w, w, w)
    for a in range(3):
        wa = frames.tension[t, 1 + a]
        if wa != 0.0:
            target = rotate(frames.rotation[t], frames.own_axes[t, :, a])
            _add_direction(terms, b, rotate(R, frames.held_axes[t, :, a]), target, wa, share)


@inlined
def _add_direction(terms, b, d, target, weight, share):
    """Add forces and stiffness of what asks a direction d of body b for a target."""
    ahead, D = terms.ahead[b], terms.D[b]
    turned = cross(ahead[0], ahead[1], ahead[2], d[0], d[1], d[2])
    for k in range(3):  # without its force it is as if the target were where the axis is
        g = -weight * (share * (target[k] - turned[k]) + (1.0 - share) * d[k])
        D[0, k] += d[0] * g
        D[1, k] += d[1] * g
        D[2, k] += d[2] * g


def table(
    topology: Topology, names: Sequence[str], position: np.ndarray, rotation: np.ndarray, tension: np.ndarray
) -> FramePoses:
    """Return the compiled table for t frames or bodies, with weights of zero.

    Positions (t, 3) [m], rotations (t, 3, 3) and tensions (t, 4) are views of the objectives' targets.
    """
    anchors, t = [anchor(topology, name) for name in names], len(names)
    return by_reference(
        FramePoses(
            body=np.array([a[0] for a in anchors], dtype=np.int64),
            point=np.array([a[1] for a in anchors]).reshape(t, 3),
            axes=np.array([a[2] for a in anchors]).reshape(t, 3, 3),
            position_weight=np.zeros((t, 3)),
            orientation_weight=np.zeros((t, 3)),
            position=position,
            rotation=rotation,
            tension=tension,
            held_point=np.array([a[1] for a in anchors]).reshape(t, 3),
            held_axes=np.array([a[2] for a in anchors]).reshape(t, 3, 3),
            own_point=np.zeros((t, 3)),
            own_axes=np.tile(np.eye(3), (t, 1, 1)),
        )
    )
