"""Faults that tools/mutants.py puts into modules, and the compiled code that they make stale."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tools.mutants import CHECKOUT, TABLE, Room
from tools.mutation import mutated, names
from tools.nearness import by_nearness
from tools.stale import compiles, stale

SOURCE = '''"""A module."""
from math import pi

LONG = 2.0

def half(x: int = 3) -> float:
    """Return half of 7."""
    if not x < 4:
        raise ValueError(f"{x + 1} is too much")
    return -x / 2


def pairs(a, b):
    return list(zip(a, b, strict=True))
'''
MUTANTS = {
    "toy.py:: 2.0 -> 4.0",
    "toy.py:half: 3 -> 4",
    "toy.py:half: not x < 4 -> x < 4",
    "toy.py:half: x < 4 -> x <= 4",
    "toy.py:half: x < 4 -> x >= 4",
    "toy.py:half: 4 -> 5",
    "toy.py:half: -x / 2 -> -x * 2",
    "toy.py:half: -x -> x",
    "toy.py:half: 2 -> 3",
}


def test_each_fault_is_one_change_of_what_computes(tmp_path: Path) -> None:
    (tmp_path / "toy.py").write_text(SOURCE)
    found = {one.name: one.source for one in (mutated(tmp_path, site) for site in names(tmp_path, "toy.py"))}
    assert set(found) == MUTANTS
    for name, source in found.items():
        compile(source, name, "exec")
    without_not: dict = {}
    exec(found["toy.py:half: -x -> x"], without_not)
    assert without_not["half"](3) == 1.5


def test_what_is_inlined_makes_stale_what_uses_it() -> None:
    """A kernel is called by its name; an inlined function is a part of the kernels of other modules."""
    library = CHECKOUT / "robik"
    assert stale(library, "robik/kinematics/singularity.py") == ["robik/kinematics/singularity.py"]
    of_rotations = stale(library, "robik/kinematics/rotations.py")
    assert {"robik/kinematics/rotations.py", "robik/kinematics/kernels.py", "robik/objectives/look_at.py"} <= set(
        of_rotations
    )
    assert "robik/servo/bus/bus.py" not in of_rotations
    assert compiles(library, "robik/kinematics/rotations.py") and not compiles(library, "robik/servo/bus/bus.py")


def test_tests_that_import_the_module_or_what_imports_it_come_before_those_of_its_room() -> None:
    found = by_nearness(CHECKOUT, ("tests/kinematics",), "robik/kinematics/segments.py")
    assert found[0] == "tests/objectives/test_clearance.py", "the only one that imports it"
    own = sorted(f"tests/kinematics/{file.name}" for file in (CHECKOUT / "tests/kinematics").glob("test_*.py"))
    assert sorted(set(found) & set(own)) == own
    assert len(found) == len(set(found))
    of_walls = by_nearness(CHECKOUT, (), "robik/objectives/walls.py")
    assert "tests/objectives/test_clearance.py" in of_walls, "its objective imports the kernels"


def test_tests_of_what_starts_a_module_as_a_process_come_first_and_those_in_real_time_last() -> None:
    names = ("playing", "models", "port_process", "process_faults")
    room = [f"tests/servo/test_{name}.py" for name in names]
    found = [test for test in by_nearness(CHECKOUT, room, "robik/servo/port/host.py") if test in room]
    assert found == [room[3], room[1], room[0], room[2]], "of the last two, which are in real time, either is as near"


def test_mutants_of_one_function_are_had_by_the_beginning_of_their_names() -> None:
    room = Room(name="kinematics", sources=("robik/kinematics/*.py",), tests=())
    found = [names(CHECKOUT, site.file)[site] for site in room.sites("robik/kinematics/segments.py:_clamp")]
    assert found == [f"robik/kinematics/segments.py:_clamp: {change}" for change in ("0.0 -> 1.0", "1.0 -> 2.0")]
    every = list(room.sites("robik/kinematics/segments.py"))
    assert len(every) > 50 and {site.file for site in every} == {"robik/kinematics/segments.py"}


def test_the_table_names_what_is_there() -> None:
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    rooms = [Room(**{k: tuple(v) if isinstance(v, list) else v for k, v in room.items()}) for room in table["room"]]
    assert [room.name for room in rooms] == ["ik", "kinematics", "objectives", "retarget", "servo"]
    for room in rooms:
        assert all((CHECKOUT / test).exists() for test in room.tests)
        assert all(list(CHECKOUT.glob(pattern)) for pattern in room.sources)
    for one in table["equivalent"]:
        file, _, _ = one["mutant"].partition(":")
        assert one["mutant"] in names(CHECKOUT, file).values()
        assert one["why"]
