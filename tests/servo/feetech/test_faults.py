"""A part of the fault matrix of Feetech servos that docs/safety.md shows, run again every time."""

import os

import pytest

from tests.servo.faults import PATIENT, STAGES, run_all
from tests.servo.feetech.faults import FAULTS, FeetechMachine

pytestmark = [
    pytest.mark.real_time,
    pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals"),
]
SOME = [(fault, STAGES[k % 5], 1) for k, fault in enumerate(FAULTS)]


def test_no_fault_leaves_anything_moving_or_hanging() -> None:
    for cell in run_all(SOME, PATIENT, kind=FeetechMachine, faults=FAULTS):
        cell.check(PATIENT)
