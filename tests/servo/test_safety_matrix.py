"""docs/safety.md and its matrix: every fault at every stage, as promised, with the figures that the page gives."""

from __future__ import annotations

import math
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.servo import faults, safety_matrix
from tests.servo.dynamixel1.faults import ALL as DYNAMIXEL1
from tests.servo.faults import ALL, SETTINGS, Cell, longest
from tests.servo.feetech.faults import ALL as FEETECH
from tests.servo.safety_matrix import PATH, SERVOS, Row, read_rows, write_cells

PAGE = PATH.with_name("safety.md")
CELLS = dict(zip(SERVOS, (ALL[1], ALL[4], FEETECH, DYNAMIXEL1), strict=True))
PATHS = {  # the rows of the page's table, and the faults that they speak of
    "*Torque Off*": {faults.PRESSED},
    "stopped from outside, Blender killed, the process that plays asked to end": {
        *(faults.OUTSIDE, faults.KILLED, faults.ENDED),
    },
    "Blender hangs for longer than *Bear Stalls*": {faults.HANGS},
    "the process that plays is killed, the computer suspended, the cable pulled": {
        *(faults.HOST_KILLED, faults.SUSPENDED, faults.UNPLUGGED),
    },
    "a servo is silent, or restarts": {
        *(faults.VANISHES, "a servo answers with the id of another", "a servo with old firmware takes its place"),
        *("a servo restarts", "a servo restarts slowly", "a servo's supply breaks down for a moment"),
        *("a servo that turns its torque on at startup restarts", "a servo whose torque a goal turns on restarts"),
    },
    "a servo turns itself off: load, current, heat, supply": {
        *("an overload shuts a servo down", "too much current turns a servo off", "heat turns a servo off"),
        "the supply of a servo is out of its range",
    },
    "another program changes a servo's watchdog, speed or torque limit": {
        *("another program clears a servo's watchdog", "another program clears a servo's speed limit"),
        "another program changes a servo's torque limit",
    },
    "answers are late, lost or corrupted": {
        *(faults.LATE, "answers are up to 50 ms late", "bytes of nobody before answers"),
        "answers lose bytes, servos miss 2 % of packets",
        "answers are corrupted, servos miss 2 % of packets",
    },
    "what depends on the brand: a load for too long, torque refused or taken, goals of another program": {
        *(faults.OVERLOADED, "overload protection takes a servo's torque", faults.REFUSES),
        *("another program writes a goal to a servo", "another program takes a servo's speed limit"),
        "another program turns a servo's torque off",
    },
}


def of(path: str) -> list[Row]:
    """Return the rows of the matrix of a row of the page."""
    return [row for row in read_rows() if row.fault in PATHS[path]]


def test_the_matrix_has_every_fault_at_every_stage_once() -> None:
    rows = Counter((row.servos, row.fault, row.stage) for row in read_rows())
    assert rows == Counter((servos, fault, stage) for servos, cells in CELLS.items() for fault, stage, _ in cells)


def cell_of(row: Row) -> Cell:
    """Return a cell that is written as this row."""
    ports = 4 if row.servos == SERVOS[1] else 1
    moves = float(row.outcome != "did not move")
    seconds = float(row.stood_after_s or 0)
    end = (row.outcome == "went on", seconds, 0.0, moves, False, int(row.with_torque), row.user_saw, row.to_go_on)
    return Cell(row.fault, row.stage, ports, *end)


@pytest.mark.parametrize("servos", SERVOS)
def test_a_run_of_some_servos_leaves_the_rows_of_others(
    servos: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safety_matrix, "PATH", Path(shutil.copy(PATH, tmp_path)))
    cells = [cell_of(row) for row in read_rows() if row.servos == servos]
    write_cells([], servos)
    assert servos not in {row.servos for row in read_rows()}
    write_cells(cells, servos)
    assert (tmp_path / PATH.name).read_bytes() == PATH.read_bytes()


def test_nothing_in_the_matrix_breaks_a_promise() -> None:
    for row in read_rows():
        assert row.to_go_on.endswith("Play"), row
        assert row.user_saw, row
        assert (row.outcome == "did not move") == (row.stood_after_s == ""), row
        assert row.outcome in ("did not move", "stopped", "went on"), row
        assert not row.stood_after_s or float(row.stood_after_s) <= longest(row.fault, SETTINGS), row
        assert row.stage == "connecting" or row.fault != faults.PRESSED or row.with_torque == "0", row


def test_the_page_speaks_of_every_fault_with_the_times_of_the_matrix() -> None:
    table = re.findall(r"(?m)^\| (.+?) \| (.+?) \| ([\d.]+) s \| (.+?) \|$", PAGE.read_text(encoding="utf-8"))
    assert [path for path, *_ in table] == list(PATHS)
    told = Counter(fault for named in PATHS.values() for fault in named)
    assert told == Counter({row.fault for row in read_rows()})
    for path, _, seconds, _ in table:
        longest_stop = max(float(row.stood_after_s or 0) for row in of(path))
        assert float(seconds) == max(0.1, math.ceil(10 * longest_stop) / 10), path


def test_the_page_says_what_servos_do_as_the_matrix_does() -> None:
    outcomes = {path: {row.outcome for row in of(path) if row.stage != "connecting"} for path in PATHS}
    went_on = {path for path, named in outcomes.items() if "went on" in named}
    assert went_on == set(list(PATHS)[-2:]), "go on as told, or what depends on the brand"
    keep_all = {path for path in PATHS if all(row.with_torque == row.of for row in of(path) if row.stage == "playing")}
    text = PAGE.read_text(encoding="utf-8")
    for path in keep_all:
        [line] = [line for line in text.splitlines() if line.startswith(f"| {path} |")]
        assert "yield" not in line, line
        assert "lose torque" not in line, line
