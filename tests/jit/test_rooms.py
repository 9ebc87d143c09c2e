"""The compiler's room: nothing else knows numba, and it knows nothing else of robik."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from robik.jit.sources import FOLDERS
from tests.syntax import imports

LIBRARY = Path(__file__).parents[2] / "robik"
MODULES = sorted(LIBRARY.rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """Absolute names of all modules that a file imports, wherever in it."""
    package = ("robik", *path.relative_to(LIBRARY).parent.parts)
    for node in imports(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def in_jit(path: Path) -> bool:
    return path.is_relative_to(LIBRARY / "jit")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(LIBRARY).as_posix())
def test_only_the_compilers_room_imports_numba(path):
    found = {name.split(".")[0] for name in imported(path)} & {"numba", "llvmlite"}
    assert in_jit(path) or not found


def test_the_check_sees_numba_where_it_is():
    assert {"numba", "llvmlite"} <= {name.split(".")[0] for path in MODULES if in_jit(path) for name in imported(path)}


def test_the_compilers_room_imports_nothing_else_of_robik_but_the_rule_for_folders():
    found = {name for path in filter(in_jit, MODULES) for name in imported(path) if name.startswith("robik")}
    assert {name for name in found if not name.startswith("robik.jit")} == {"robik.own_folder", "robik.own_folder.make"}


def has_kernels(path: Path) -> bool:
    return not in_jit(path) and not {"robik.jit.kernel", "robik.jit.inlined"}.isdisjoint(imported(path))


def test_the_cache_depends_on_the_sources_of_all_compiled_code_and_its_constants():
    """Modules with kernels and what they import, whose constants may be in the code; errors and budgets of time are in
    none."""
    compiled = [path for path in MODULES if has_kernels(path)]
    folders = {path.relative_to(LIBRARY).parts[0] for path in compiled}
    assert {"kinematics", "ik", "tracking"} <= folders
    folders |= {name.split(".")[1] for path in compiled for name in imported(path) if name.startswith("robik.")}
    assert folders - {"errors", "budget"} <= set(FOLDERS)
