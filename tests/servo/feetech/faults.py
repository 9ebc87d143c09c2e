"""Every fault at every stage of playing, on an independent chain of Feetech servos: see `tests.servo.faults`.

`python -m tests.servo.feetech.faults` runs them all and writes their part of docs/safety-matrix.csv.
"""

from __future__ import annotations

import os

from tests.servo import faults as common
from tests.servo.faults import Act, _mended, _noise, _nothing, run_well
from tests.servo.machine import Machine
from tests.servo.safety_matrix import write_cells

from .independent import FeetechChain

OVERLOAD, CURRENT, HEAT = 0x20, 0x08, 0x04
HOT, COOL = 75, 30  # [°C]


class FeetechMachine(Machine):
    """Feetech servos behind ports, and who of them a fault befalls."""

    model, brand, number, chain = "STS3215", "feetech", 777, FeetechChain


def _change(**entries: int) -> Act:
    return lambda one: one.struck.change(one.victim, **entries)


OF_DYNAMIXEL = {  # the same there and here: what happens, and how its cause is removed
    name: common.FAULTS[name]
    for name in (
        *("bytes of nobody before answers", common.LATE, "answers are up to 50 ms late"),
        *("a servo answers with the id of another", common.VANISHES, common.PRESSED, common.UNPLUGGED, common.HANGS),
        *(common.KILLED, common.HOST_KILLED, common.ENDED, common.SUSPENDED, common.OUTSIDE),
    )
}
FAULTS: dict[str, tuple[Act, Act]] = {
    "answers lose bytes, servos miss 2 % of packets": (lambda one: _noise(one, loss=0.05), _mended),
    "answers are corrupted, servos miss 2 % of packets": (lambda one: _noise(one, corrupt=0.05), _mended),
    **OF_DYNAMIXEL,
    "a servo restarts": (lambda one: one.struck.reboot(one.victim, seconds=0.05), _nothing),
    "a servo restarts slowly": (lambda one: one.struck.reboot(one.victim, seconds=0.6), _nothing),
    "overload protection takes a servo's torque": (lambda one: one.struck.fail(one.victim, OVERLOAD), _nothing),
    "a servo is overloaded": (
        lambda one: one.struck.sense(one.victim, load=1000),
        lambda one: one.struck.sense(one.victim, load=0),
    ),
    "too much current turns a servo off": (lambda one: one.struck.fail(one.victim, CURRENT), _nothing),
    "heat turns a servo off": (
        lambda one: one.struck.sense(one.victim, celsius=HOT),
        lambda one: one.struck.sense(one.victim, celsius=COOL),
    ),
    "another program writes a goal to a servo": (_change(goal=2400), _nothing),
    "another program takes a servo's speed limit": (_change(speed=0), _nothing),
    "another program turns a servo's torque off": (_change(torque=0), _nothing),
    "another program changes a servo's torque limit": (_change(torque_limit=500), _nothing),
}
ALL = [(fault, stage, 1) for fault in FAULTS for stage in common.STAGES]


if __name__ == "__main__":
    write_cells(run_well(ALL, FeetechMachine, FAULTS), "Feetech")
    os._exit(0)
