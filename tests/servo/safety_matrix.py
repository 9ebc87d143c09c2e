"""docs/safety-matrix.csv: what became of each fault at each stage, written from a run of it and read back."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

from tests.servo.faults import KILLED, STAGES, Cell
from tests.servo.machine import IDS

PATH = Path(__file__).resolve().parents[2] / "docs" / "safety-matrix.csv"
COUNT = {ports: sum(map(len, ids)) for ports, ids in IDS.items()}  # of servos
SERVOS = ("Dynamixel", "Dynamixel on four ports", "Feetech", "Dynamixel Protocol 1")  # in this order in the file


class Row(NamedTuple):
    """A fault at a stage, as text.

    Attributes:
        servos: one of `SERVOS`.
        fault, stage: what happened, and when.
        outcome: "did not move", "stopped", or "went on" (as told, until Stop was pressed).
        with_torque, of: how many servos have torque at the end, of how many.
        stood_after_s: from the fault (or, where they went on, from Stop) to the last move of any servo; empty where
            none moved.
        user_saw: the player's state and message.
        to_go_on: what the user pressed once the cause was gone.
    """

    servos: str
    fault: str
    stage: str
    outcome: str
    with_torque: str
    of: str
    stood_after_s: str
    user_saw: str
    to_go_on: str


def write_cells(cells: list[Cell], servos: str) -> None:
    """Write the cells of some servos into the file; the rows of others stay."""
    made = [row_of(cell, servos) for cell in sorted(cells, key=lambda cell: STAGES.index(cell.stage))]
    faults = list(dict.fromkeys(cell.fault for cell in cells))
    made.sort(key=lambda row: faults.index(row.fault))
    rows = [row for row in read_rows() if row.servos != servos] + made
    rows.sort(key=lambda row: SERVOS.index(row.servos))
    with PATH.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([Row._fields, *rows])


def read_rows() -> list[Row]:
    """Return the rows of the file."""
    with PATH.open(newline="", encoding="utf-8") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def row_of(cell: Cell, servos: str) -> Row:
    """Return a cell as a row."""
    stood = cell.stage == "connecting" and cell.fastest == 0.0
    outcome = "did not move" if stood else "went on" if cell.went_on else "stopped"
    seconds = "" if stood else f"{cell.seconds:.2f}"
    saw = "nothing, there was nobody left" if cell.fault == KILLED else cell.saw
    count = str(COUNT[cell.ports])
    return Row(servos, cell.fault, cell.stage, outcome, str(cell.torque), count, seconds, saw, cell.mended)
