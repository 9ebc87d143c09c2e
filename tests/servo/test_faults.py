"""A part of the fault matrix that docs/safety.md shows, anew every time: each fault at two stages, each stage with
several."""

import os

import pytest

from tests.servo.faults import FAULTS, PATIENT, STAGES, run_all

pytestmark = [
    pytest.mark.real_time,
    pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals"),
]
SOME = [(fault, stage) for i, fault in enumerate(FAULTS) for j, stage in enumerate(STAGES) if (j - 2 * i) % 5 in (0, 2)]


def test_no_fault_leaves_anything_moving_or_hanging():
    for cell in run_all(SOME, PATIENT):
        cell.check(PATIENT)
