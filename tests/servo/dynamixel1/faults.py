"""Every fault at every stage of playing, on an independent chain of servos of Protocol 1.0: see `tests.servo.faults`.

`python -m tests.servo.dynamixel1.faults` runs them all and writes their part of docs/safety-matrix.csv.
"""

from __future__ import annotations

from tests.servo.faults import FAULTS as COMMON
from tests.servo.faults import STAGES, Act, _nothing, run_well
from tests.servo.feetech.faults import FAULTS as OF_FEETECH
from tests.servo.feetech.faults import _change
from tests.servo.machine import Machine
from tests.servo.safety_matrix import write_cells

from .independent import Dynamixel1Chain

OVERLOAD = 0x20


class Dynamixel1Machine(Machine):
    """Servos of Protocol 1.0 behind ports, and who of them a fault befalls."""

    model, brand, number, chain = "AX-12A", "dynamixel1", 12, Dynamixel1Chain


OTHERS = (  # of Feetech servos, which these have otherwise, or not at all
    *("overload protection takes a servo's torque", "too much current turns a servo off"),
    *("another program writes a goal to a servo",),
)
FAULTS: dict[str, tuple[Act, Act]] = {
    **{name: acts for name, acts in OF_FEETECH.items() if name not in OTHERS},
    "an overload shuts a servo down": (lambda one: one.struck.fail(one.victim, OVERLOAD), _nothing),
    "the supply of a servo is out of its range": (
        lambda one: one.struck.sense(one.victim, volts=15.0),
        lambda one: one.struck.sense(one.victim, volts=11.1),
    ),
    "a servo does not take torque": (
        lambda one: one.struck.faults(one.victim, swallow=["torque"]),
        COMMON["a servo does not take torque"][1],
    ),
    "another program writes a goal to a servo": (_change(goal=650), _nothing),
}
ALL = [(fault, stage, 1) for fault in FAULTS for stage in STAGES]


if __name__ == "__main__":
    write_cells(run_well(ALL, Dynamixel1Machine, FAULTS), "Dynamixel Protocol 1")
