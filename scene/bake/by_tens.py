"""Weights as an animator sets them: each step is ten times as strong."""

from math import log10

from ...robik.skeleton.single import single

WEAKEST = -10  # exponent of the weight that an animator sees as 0
DIGITS = 5  # of a weight: a slider of single precision makes up those after them
WEIGHTS = ("stillness", "posture")  # of the solver, those that are set in steps


def steps_of(weight: float) -> float:
    """Return the steps of a weight."""
    return log10(weight) - WEAKEST


def weight_of(steps: float) -> float:
    """Return the weight of steps."""
    return single(float(f"{10.0 ** (steps + WEAKEST):.{DIGITS}g}"))
