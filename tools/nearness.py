"""Tests of a module, the nearest first: those that import it, then those that import what imports it, and so on.

Files of tests in real time come last: they wait for servos for minutes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import count
from pathlib import Path

MANY = 12  # files: a module that more of them import is every test's; beyond the room, those of farther ones are, too


def by_nearness(checkout: Path, room: Sequence[str], file: str) -> list[str]:
    """Return the test files for a module, the nearest first, as paths from the checkout.

    `room` are files and folders of tests that the module's room names; `file` is the module, from the checkout.
    """
    of_room = [found for test in room for found in _test_files(checkout, test)]
    modules, passed, near = {_name(file)}, set[str](), []
    for distance in count():
        importing = [test for test in _library_tests(checkout) if not modules.isdisjoint(_imports(checkout, test))]
        is_near = distance < 2 and len(importing) <= MANY
        near += importing if is_near else [test for test in of_room if test in importing]
        passed |= modules
        if not (modules := _users(checkout, modules) - passed):
            break
    return sorted(dict.fromkeys([*near, *of_room]), key=lambda test: _is_in_real_time(checkout, test))


@cache
def _is_in_real_time(checkout: Path, test: str) -> bool:
    """Return whether all tests of a file wait for what happens in real time."""
    source = (checkout / test).read_text(encoding="utf-8")
    return "real_time" in source.partition("\npytestmark = ")[2].partition("\n\n")[0]


def _users(checkout: Path, modules: set[str]) -> set[str]:
    """Return the library's modules that import some modules, or start one of them as a process, by its name."""
    return {_name(file) for file in _library(checkout) if not modules.isdisjoint(_imports(checkout, file))}


@cache
def _library(checkout: Path) -> tuple[str, ...]:
    """Return the library's files."""
    return tuple(sorted(file.relative_to(checkout).as_posix() for file in checkout.glob("robik/**/*.py")))


@cache
def _library_tests(checkout: Path) -> tuple[str, ...]:
    """Return the files of tests that need neither Blender nor a window."""
    folders = (folder for folder in sorted((checkout / "tests").iterdir()) if folder.name not in ("blender", "gui"))
    return tuple(file for folder in folders for file in _test_files(checkout, folder.relative_to(checkout).as_posix()))


def _test_files(checkout: Path, test: str) -> list[str]:
    """Return a file of tests, or those of a folder."""
    place = checkout / test
    files: Iterable[Path] = [place] if place.is_file() else sorted(place.glob("test_*.py"))
    return [file.relative_to(checkout).as_posix() for file in files if file.name.startswith("test_")]


def _name(file: str) -> str:
    """Return the name that a module is imported by."""
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@cache
def _imports(checkout: Path, file: str) -> frozenset[str]:
    """Return the modules that a file imports or names in a text, and the names from them, each after its module's."""
    modules = {_name(one).removeprefix("robik.") for one in _library(checkout) if one.count("/") > 1}
    found: set[str] = set()
    for node in ast.walk(ast.parse((checkout / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            parts = [*Path(file).parent.parts][: len(Path(file).parent.parts) - node.level + 1] if node.level else []
            module = ".".join([*parts, *([node.module] if node.module else [])])
            found |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in modules:
            found.add(f"robik.{node.value}")  # a process of its own
    return frozenset(found)
