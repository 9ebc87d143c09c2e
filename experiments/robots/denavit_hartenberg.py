"""Serial arms from the table that their makers publish.

A row (θ offset aside) is a turn by θ about z, a shift d along z, a shift a along the new x and a turn α about it
(Denavit and Hartenberg, 1955, in the standard form): T = Rz(θ) Tz(d) Tx(a) Rx(α).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import cos, sin

import numpy as np

from experiments.robots.parts import ACCENT, SHELL, Part, bar, body, disc, rounded
from robik.mechanism import Body, Joint, Pose


@dataclass(frozen=True)
class Row:
    """A link and the hinge before it.

    Attributes:
        a, d: [m], alpha: [rad]; the table's values.
        mass: of the link [kg].
        limit: the hinge turns by this much to both sides [rad].
        speed, torque: of its motor [rad/s], [N m].
    """

    a: float
    d: float
    alpha: float
    mass: float
    limit: float
    speed: float
    torque: float


def link_frames(rows: Sequence[Row], angles: Sequence[float]) -> list[np.ndarray]:
    """Return the links' frames (4, 4) in the world, the base's first."""
    frames = [np.eye(4)]
    for row, angle in zip(rows, angles, strict=True):
        c, s, ca, sa = cos(angle), sin(angle), cos(row.alpha), sin(row.alpha)
        link = [
            [c, -s * ca, s * sa, row.a * c],
            [s, c * ca, -c * sa, row.a * s],
            [0.0, sa, ca, row.d],
            [0.0, 0.0, 0.0, 1.0],
        ]
        frames.append(frames[-1] @ np.array(link))
    return frames


def hinges(
    rows: Sequence[Row], rest: Sequence[float], names: Sequence[str], bodies: Sequence[str]
) -> tuple[Joint, ...]:
    """Return the motors, each about the z axis of the frame before it; `bodies` are the base and the links."""
    frames = link_frames(rows, rest)
    return tuple(
        Joint(
            name,
            "revolute",
            bodies[i],
            bodies[i + 1],
            position=rounded(frames[i][:3, 3], 12),
            axis=rounded(frames[i][:3, 2], 12),
            actuated=True,
            limits=((round(-row.limit, 9), round(row.limit, 9)),),
            velocity_limit=round(row.speed, 9),
            effort_limit=row.torque,
            rest=(rest[i],),
        )
        for i, (row, name) in enumerate(zip(rows, names, strict=True))
    )


def links(
    names: Sequence[str], at: Sequence[np.ndarray], masses: Sequence[float], drawn: Sequence[Sequence[Part]]
) -> list[Body]:
    """Bodies at their frames (4, 4), of parts whose masses are shares of the body's mass [kg]."""
    return [
        body(name, Pose.of(T[:3, :3], T[:3, 3]), [replace(part, mass=part.mass * mass) for part in parts])
        for name, T, mass, parts in zip(names, at, masses, drawn, strict=True)
    ]


def housing(center: np.ndarray, axis: np.ndarray, radius: float, length: float, share: float) -> tuple[Part, ...]:
    """Return a motor's, about its axis, with a cap at both ends."""
    end = 0.5 * length * axis
    caps = (disc(center + side * end, axis, 0.86 * radius, 0.012, 0.05 * share, ACCENT) for side in (1, -1))
    return (disc(center, axis, radius, length, 0.9 * share, SHELL), *caps)


def tube(start: np.ndarray, end: np.ndarray, radius: float, share: float) -> Part:
    """From motor to motor."""
    return bar(start, end, radius, share, SHELL, "cylinder")
