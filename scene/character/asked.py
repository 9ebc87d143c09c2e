"""Objectives of a character beside poses of frames: looks, distances, frames seen from frames, a posture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...robik.errors import RobikError
from ...robik.mechanism import Mechanism, Pose
from ...robik.mechanism.orientations import quaternions, rotation
from ...robik.objectives.objective import Objective
from ...robik.objectives.registry import objective_of
from ...robik.objectives.rows import Row
from ...robik.skeleton.placement import Placement
from .mapping import MappedTarget

Sampled = tuple[np.ndarray, np.ndarray]  # positions (T, 3) [m] and unit quaternions (T, 4), in the world


def asked_for(
    mechanism: Mechanism,
    asked: Sequence[MappedTarget],
    sources: Mapping[int, Sampled],
    leads: Mapping[str, Sampled],
    placed: Placement,
    samples: int,
) -> tuple[Objective, ...]:
    """Return the objectives of targets over `samples` samples, in the robot's coordinates.

    `sources` are the samples that a target follows, by its place in `asked`; `leads` those of the frames whose
    poses are asked for, by frame. Raise RobikError if two targets ask for the same.
    """
    found: list[Objective] = []
    for k, target in enumerate(asked):
        position, quaternion = _placed(sources.get(k), placed)
        other_position, other_quaternion = _placed(leads.get(target.other), placed)
        row = Row(
            frame=target.frame, other=target.other, position=position, quaternion=quaternion,
            other_position=other_position,
            other_quaternion=other_quaternion, samples=samples,
            offset=Pose(target.offset_location, target.offset_rotation),
            axis=target.axis, distance=target.distance, weight=target.weight, weights=target.weights,
        )  # fmt: skip
        found += [objective for objective, _ in _objectives(mechanism, target, row)]
    keys = [objective.key for objective in found]
    if twice := next((key for key in keys if keys.count(key) > 1), ""):
        raise RobikError(f"two targets ask for {twice!r}: switch one of them off")
    return tuple(found)


def weights_of(mechanism: Mechanism, asked: Sequence[MappedTarget]) -> dict[str, Any]:
    """Return the weights of what targets ask for, by the objectives' keys."""
    nothing = np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]])
    weights: dict[str, Any] = {}
    for target in asked:
        row = Row(
            frame=target.frame, other=target.other, position=nothing[0], quaternion=nothing[1], samples=1,
            axis=target.axis,
            distance=target.distance, weight=target.weight, weights=target.weights,
        )  # fmt: skip
        weights |= {objective.key: weight for objective, weight in _objectives(mechanism, target, row)}
    return weights


def _objectives(mechanism: Mechanism, target: MappedTarget, row: Row) -> list[tuple[Objective, Any]]:
    kind = objective_of(target.follows)
    assert kind is not None  # poses of frames are tracks
    return kind.of_row(mechanism, row)


def _placed(sampled: Sampled | None, placed: Placement) -> tuple[np.ndarray, np.ndarray] | tuple[None, None]:
    if sampled is None:
        return None, None
    where, oriented = placed.apply(sampled[0], rotation(sampled[1]))
    return where, quaternions(oriented)
