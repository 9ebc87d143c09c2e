"""Feet that stand on steps: higher than where they stand most often, with no mesh that says so."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

STEP = 2.0  # times what is alike: feet that stand higher than that do so on a step

Stretch = tuple[int, int]  # first sample, and the one after the last


def on_steps(
    still: Mapping[str, list[Stretch]], heights: Mapping[str, np.ndarray], fast: Mapping[str, np.ndarray], near: float
) -> dict[str, list[Stretch]]:
    """Return the phases, by foot, in which feet that are still carry weight, at whatever height.

    A raised foot may be as still as one on a step. But while all others swing, and are higher, it is the one that
    is still that carries the robot. Where feet do so on a step, they stand at that height at other times, too.
    `still` are phases in which a foot hardly moves, `heights` (T,) [m] of its lowest point over the lowest ground,
    `fast` (T,) flags when it surely moves; heights that differ by less than `near` [m] are alike.
    """
    carries = {
        name: [phase for phase in phases if _carries(name, phase, heights, fast, near)]
        for name, phases in still.items()
    }
    levels = np.array([np.median(heights[name][a:b]) for name, phases in carries.items() for a, b in phases])
    levels = levels[levels > STEP * near]
    return {
        name: [
            (a, b)
            for a, b in phases
            if (a, b) in carries[name] or (np.abs(levels - np.median(heights[name][a:b])) < near).any()
        ]
        for name, phases in still.items()
    }


def _carries(
    name: str, phase: Stretch, heights: Mapping[str, np.ndarray], fast: Mapping[str, np.ndarray], near: float
) -> bool:
    """Return whether a foot is at some time of a phase the lowest one, and all others surely move."""
    during = slice(*phase)
    others = [
        fast[other][during] & (heights[other][during] > heights[name][during] + near)
        for other in heights
        if other != name
    ]
    return bool(others) and bool(np.logical_and.reduce(others).any())
