"""Mobility: degrees of freedom and redundant rows of a robot."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass

import numpy as np

from ..mechanism.model import Mechanism
from ..mechanism.topology import Flat, Topology, build_topology, loop_groups
from ..words import counted
from .assembly import assembled_poses, closed, prepared
from .driven import Actuation, actuation
from .elimination import RANK_TOLERANCE
from .kernels import close, forward_kinematics, group_jacobian, new_placement
from .straightening import straightened


@dataclass(frozen=True)
class LoopGroup:
    """Loops that share joints, and so are redundant together or not at all.

    Attributes:
        joints: that close them, each a loop's cut; couplings by their names.
        rows: closure equations of each.
        redundant: how many of all these follow from the others.
    """

    joints: tuple[str, ...]
    rows: tuple[int, ...]
    redundant: int


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """Numbers that describe a robot.

    Attributes:
        name: of the robot.
        bodies: how many.
        joints: how many, by type.
        actuators: their names.
        loops: independent kinematic loops.
        mobility: degrees of freedom that joints and couplings leave, a floating base counted.
        redundant_rows: closure equations that follow from the others.
        loop_groups: which loops they belong to.
        actuation: what the actuators move, and what they do not.
        closure_residual: of the rest pose [m].
        rounding: how far joints are from where the file's rounded numbers have them, so that linkages move [m].
        mass: [kg].
        frames: names of the frames.
    """

    name: str
    bodies: int
    joints: dict[str, int]
    actuators: tuple[str, ...]
    loops: int
    mobility: int
    redundant_rows: int
    loop_groups: tuple[LoopGroup, ...]
    actuation: Actuation
    closure_residual: float
    rounding: float
    mass: float
    frames: tuple[str, ...]

    def as_data(self) -> dict:
        """Return plain data, as `robik inspect --json` prints it."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return it in words, as `robik inspect` prints it."""
        joints = ", ".join(f"{count} {kind}" for kind, count in self.joints.items())
        moved = self.actuation
        lines = [
            f"{self.name}: {counted(self.bodies, 'body', 'bodies')}, {self.mass:.3f} kg",
            f"joints: {joints or 'none'}",
            f"actuators ({len(self.actuators)}): {', '.join(self.actuators) or 'none'}",
            f"loops: {self.loops}; degrees of freedom: {self.mobility}; redundant closure rows: {self.redundant_rows}",
        ]
        for group in self.loop_groups:
            closed = ", ".join(
                f"{name} ({counted(rows, 'row')})" for name, rows in zip(group.joints, group.rows, strict=True)
            )
            lines.append(f"  closed by {closed}: {group.redundant} redundant")
        lines.append(
            f"on its base it has {counted(moved.freedoms, 'degree')} of freedom, and its actuators {moved.actuated}"
        )
        if moved.surplus:
            lines.append(f"overactuated: {moved.surplus} of the driven degrees must agree with the others")
        lines += [f"its loops lock actuator {name}" for name in moved.stuck]
        lines += [f"no actuator moves: {joints}" for joints in dict.fromkeys(map(", ".join, moved.idle))]
        lines.append(f"closure residual of the rest pose: {self.closure_residual:.2g} m")
        if self.rounding > 0.0:
            lines.append(
                f"straightened: joints are up to {self.rounding:.2g} m from where the file's rounded numbers have them"
            )
        lines.append(f"frames: {', '.join(self.frames) or 'none'}")
        return lines


def inspect(mechanism: Mechanism) -> Inspection:
    """Count a robot's degrees of freedom and redundant rows.

    In the rest pose and, since that may be singular, in poses near it.

    Args:
        mechanism: The robot.

    Returns:
        Counts, and the closure residual [m].
    """
    mechanism = straightened(mechanism)
    topology = build_topology(mechanism)
    flat = prepared(topology)
    now = new_placement(flat, topology.rest)
    forward_kinematics(flat, now)
    residual = float(close(flat, now))
    ranks = _ranks(flat, topology.rest)
    rank = int(ranks.sum(axis=1).max(initial=0))
    return Inspection(
        name=mechanism.name,
        bodies=len(mechanism.bodies),
        joints=dict(sorted(Counter(j.type for j in mechanism.joints).items())),
        actuators=mechanism.actuators,
        loops=len(topology.cuts),
        mobility=len(flat.before) - rank,
        redundant_rows=len(now.value) - rank,
        loop_groups=_groups(topology, flat, ranks.max(axis=0, initial=0)),
        actuation=actuation(mechanism),
        closure_residual=residual,
        rounding=mechanism.rounding,
        mass=mechanism.mass,
        frames=tuple(f.name for f in mechanism.frames),
    )


def _groups(topology: Topology, flat: Flat, ranks: np.ndarray) -> tuple[LoopGroup, ...]:
    """Return the groups, with the ranks (groups,) of their rows."""
    couplings, m = topology.mechanism.couplings, len(flat.row_kind)
    found = []
    for (rows, _), rank in zip(loop_groups(flat), ranks.tolist(), strict=True):
        cuts = Counter(
            topology.cuts[flat.row_cut[row]].name if row < m else couplings[row - m].name for row in rows.tolist()
        )
        found.append(LoopGroup(tuple(cuts), tuple(cuts.values()), len(rows) - rank))
    return tuple(found)


def _ranks(flat: Flat, rest: np.ndarray) -> np.ndarray:
    """Return the ranks (poses, groups) of each group's closure Jacobian.

    At the rest pose and at assembled poses near it; none of these where numbers are too large to calculate with.
    """
    groups = loop_groups(flat)
    ranks: list[list[int]] = []
    for residual, now in assembled_poses(flat, rest):
        if closed(flat, now, residual):
            ranks.append([])
            for g, (rows, columns) in enumerate(groups):
                J = np.zeros((len(rows), len(columns)))
                group_jacobian(flat, now, g, J)
                ranks[-1].append(_rank(J, flat.size))
    return np.array(ranks, dtype=int).reshape(len(ranks), len(groups))


def _rank(J: np.ndarray, size: float) -> int:
    values = np.linalg.svd(J, compute_uv=False) if J.size else np.zeros(0)
    return int((values > RANK_TOLERANCE * values.max(initial=size)).sum())
