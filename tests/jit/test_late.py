"""Functions for one kind of a record are compiled when there is one, and kernels once for all kinds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from robik.jit.trial import numbas

pytestmark = pytest.mark.skipif(not numbas().fast, reason="kernels are compiled as numba does it by itself")
KINDS = """
from typing import NamedTuple
import numpy as np
from numba.core import event
from robik.jit import by_reference, compiled_for_record, kernel

class Tank(NamedTuple):
    litres: np.ndarray

class Leaky(Tank):
    pass

class Closed(Tank):
    pass

@kernel(entry=False)
def drip(tank, drops):
    for _ in range(drops):
        tank.litres[0] -= 1.0

@compiled_for_record(Leaky)
def leak(drops, tank):
    drip(tank, drops)

@compiled_for_record(Closed, otherwise=True)
def is_open(tank):
    return False

@compiled_for_record(Leaky, otherwise=0)
def lost(drops, tank):
    return drops

@kernel
def pour(tank, drops):
    leak(drops, tank)
    return tank.litres[0] if is_open(tank) else -tank.litres[0] + 10 * lost(drops, tank)

@compiled_for_record(Leaky, otherwise=0.0)
def wrong(drops, tank):
    return drops

@kernel
def all_wrong(tank):
    return wrong(1, tank)

class Compiled(event.Listener):
    names = []

    def on_start(self, one):
        self.names.append(one.data["dispatcher"].py_func.__name__)

    def on_end(self, one):
        pass

def new(kind):
    return by_reference(kind(np.array([9.0])))

def compiled_by(action):
    before = len(Compiled.names)
    answer = action()
    return answer, sorted(Compiled.names[before:])

event.register("numba:compile", Compiled())
"""
CALL_FIRST = """
print(compiled_by(lambda: pour(new(Tank), 2)))
print(compiled_by(lambda: pour(new(Leaky), 2)))
print(compiled_by(lambda: pour(new(Closed), 2)))
print(compiled_by(lambda: [pour(new(kind), 3) for kind in (Tank, Leaky, Closed)]))
"""
RECORD_FIRST = """
print(compiled_by(lambda: new(Leaky)) [1])
print(compiled_by(lambda: pour(new(Tank), 2)))
print(compiled_by(lambda: pour(new(Leaky), 2)))
"""


def run(folder: Path, script: str) -> list[str]:
    (folder / "kinds.py").write_text(KINDS)
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
    }
    command = [sys.executable, "-c", "from kinds import *\n" + script]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()


def test_a_function_is_compiled_with_the_first_record_of_its_kind(tmp_path: Path) -> None:
    values = "(9.0, [{}])", "(7.0, [{}])", "(-9.0, [{}])", "([9.0, 6.0, -9.0], [])"
    compiled = "'pour'", "'drip', 'leak', 'lost'", "'is_open'"
    assert run(tmp_path, CALL_FIRST) == [
        *(value.format(names) for value, names in zip(values, compiled, strict=False)),
        values[3],
    ]
    assert run(tmp_path, CALL_FIRST) == [value.format("") for value in values], "from the cache"


def test_the_record_may_come_before_the_first_call(tmp_path: Path) -> None:
    first = ["[]", "(9.0, ['drip', 'leak', 'lost', 'pour'])", "(7.0, [])"]
    assert run(tmp_path, RECORD_FIRST) == first
    assert run(tmp_path, RECORD_FIRST) == ["[]", "(9.0, [])", "(7.0, [])"], "from the cache"
    assert run(tmp_path, CALL_FIRST)[0] == "(9.0, [])", "code of the one order serves the other"


def test_what_returns_another_type_than_for_other_records_is_refused(tmp_path: Path) -> None:
    script = """
new(Leaky)
try:
    all_wrong(new(Tank))
except Exception as error:
    print("wrong returns int64, but float64 for other records" in str(error))
"""
    assert run(tmp_path, script) == ["True"]
