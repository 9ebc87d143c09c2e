"""A part of the fault matrix (docs/safety-matrix.csv), run again every time: each fault at one stage, for servos of
each brand, each stage with several; of Dynamixel servos at a second stage where there is time.

What befalls all brands alike is tried on one of the two whose lines are of one class, where there is time on both.
"""

import os

import pytest

from tests.servo.dynamixel1.faults import FAULTS as OF_DYNAMIXEL1
from tests.servo.dynamixel1.faults import Dynamixel1Machine
from tests.servo.faults import FAULTS, HANGS, OUTSIDE, PATIENT, SEVERAL, STAGES, run_all
from tests.servo.feetech.faults import FAULTS as OF_FEETECH
from tests.servo.feetech.faults import OF_DYNAMIXEL, FeetechMachine
from tests.servo.machine import Machine

pytestmark = [
    pytest.mark.real_time,
    pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals"),
]
TWO_STAGES = {fault: [STAGES[2 * k % 5], STAGES[(2 * k + 2) % 5]] for k, fault in enumerate(FAULTS)}
for fault in (HANGS, OUTSIDE):
    TWO_STAGES[fault].reverse()  # first while it approaches: a stop that is under way shows little of them
SOME, MORE = ([(fault, stages[k], 1) for fault, stages in TWO_STAGES.items()] for k in (0, 1))
ON_ONE_OF_FOUR = [(fault, STAGES[(k + 1) % 4 + 1], 4) for k, fault in enumerate(SEVERAL)]
CELLS_OF_FEETECH = [(fault, STAGES[k % 5], 1) for k, fault in enumerate(OF_FEETECH)]
CELLS_OF_DYNAMIXEL1 = [(fault, STAGES[(k + 2) % 5], 1) for k, fault in enumerate(OF_DYNAMIXEL1)]
ALIKE = list(OF_DYNAMIXEL)
SOME_OF_FEETECH = [cell for cell in CELLS_OF_FEETECH if cell[0] not in ALIKE[1::2]]
SOME_OF_DYNAMIXEL1 = [cell for cell in CELLS_OF_DYNAMIXEL1 if cell[0] not in ALIKE[::2]]
MORE_OF_FEETECH = [cell for cell in CELLS_OF_FEETECH if cell not in SOME_OF_FEETECH]
MORE_OF_DYNAMIXEL1 = [cell for cell in CELLS_OF_DYNAMIXEL1 if cell not in SOME_OF_DYNAMIXEL1]


@pytest.mark.parametrize(
    ("cells", "kind", "faults"),
    [
        (SOME, Machine, FAULTS),
        pytest.param(MORE, Machine, FAULTS, marks=pytest.mark.long),
        (ON_ONE_OF_FOUR, Machine, FAULTS),
        (SOME_OF_FEETECH, FeetechMachine, OF_FEETECH),
        (SOME_OF_DYNAMIXEL1, Dynamixel1Machine, OF_DYNAMIXEL1),
        pytest.param(MORE_OF_FEETECH, FeetechMachine, OF_FEETECH, marks=pytest.mark.long),
        pytest.param(MORE_OF_DYNAMIXEL1, Dynamixel1Machine, OF_DYNAMIXEL1, marks=pytest.mark.long),
    ],
    ids=[
        *("one port", "one port, another stage", "four ports", "feetech", "dynamixel1"),
        *("more of feetech", "more of dynamixel1"),
    ],
)
def test_no_fault_leaves_anything_moving_or_hanging(cells, kind, faults):
    for cell in run_all(cells, PATIENT, kind=kind, faults=faults):
        cell.check(PATIENT)
