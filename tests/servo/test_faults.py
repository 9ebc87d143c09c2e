"""A part of the fault matrix that docs/safety.md shows, anew every time: each fault at two stages, each stage with
several."""

import os

import pytest

from tests.servo.faults import FAULTS, PATIENT, SEVERAL, STAGES, run_all

pytestmark = [
    pytest.mark.real_time,
    pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals"),
]
SOME = [
    (fault, stage, 1) for i, fault in enumerate(FAULTS) for j, stage in enumerate(STAGES) if (j - 2 * i) % 5 in (0, 2)
]
ON_ONE_OF_FOUR = [(fault, STAGES[(k + 1) % 4 + 1], 4) for k, fault in enumerate(SEVERAL)]


@pytest.mark.parametrize("cells", [SOME, ON_ONE_OF_FOUR], ids=["one port", "four ports"])
def test_no_fault_leaves_anything_moving_or_hanging(cells):
    for cell in run_all(cells, PATIENT):
        cell.check(PATIENT)
