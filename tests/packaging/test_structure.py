"""Structure of the source: no circles, imports in one direction, bpy only in Blender's part, no long files."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.syntax import imports, nodes

CHECKOUT = Path(__file__).parents[2]
LONGEST = 400  # lines of a file
FEATURES = ("robot", "character", "balance", "bake", "overlay", "servos", "show")
# Rooms of each part; each may import those before it, and all rooms of the parts before its own.
ROOMS = {
    "translations": ("po",),
    "scene": ("long_work", "animation", "robot", "motion", *FEATURES[1:], "importing", "migration", "properties"),
    "operators": ("reporting", "stepping", *FEATURES, "command_line"),
    "panels": ("manual", "tab", *FEATURES, "menu"),
}
ORDER = ["robik", *(f"{part}.{name}" for part, names in ROOMS.items() for name in (*names, "")), ""]


def modules() -> dict[str, Path]:
    """Return the files of the library and the add-on by module name; the root's name is empty."""
    found = {"": CHECKOUT / "__init__.py"}
    for part in ("robik", *ROOMS):
        for file in sorted((CHECKOUT / part).rglob("*.py")):
            name = file.parent if file.name == "__init__.py" else file.with_suffix("")
            found[".".join(name.relative_to(CHECKOUT).parts)] = file
    return found


def imported(name: str, file: Path, known: Iterable[str] = ()) -> Iterator[str]:
    """Yield what a module imports: a known module where it takes one from a package, else what the line names."""
    package = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
    for node in imports(file):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join(filter(None, (*base, node.module)))
            for alias in node.names:
                inner = f"{source}.{alias.name}".lstrip(".")
                yield inner if inner in known else source


def graph() -> dict[str, set[str]]:
    """Return the modules that each module imports."""
    known = modules()
    return {name: set(imported(name, file, known)).intersection(known) - {name} for name, file in known.items()}


def circle_in(arrows: Mapping[str, Iterable[str]]) -> list[str]:
    """Return one circle of a graph; empty if there is none."""
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def room(module: str) -> str:
    """Return the entry of `ORDER` that a module belongs to."""
    part, _, rest = module.partition(".")
    return f"{part}.{rest.partition('.')[0]}" if part in ROOMS else part


def package(module: str) -> str:
    """Return the package of the library that a module `robik.PACKAGE…` belongs to."""
    return module.split(".")[1]


def test_no_modules_import_one_another_in_a_circle() -> None:
    arrows = graph()
    assert len(arrows) > 250
    assert circle_in(arrows) == []


def test_no_packages_of_the_library_import_one_another_in_a_circle() -> None:
    arrows: dict[str, set[str]] = {}
    for one, others in graph().items():
        if one.startswith("robik."):
            inside = {package(other) for other in others if other.startswith("robik.")}
            arrows.setdefault(package(one), set()).update(inside - {package(one)})
    assert {"clips", "motions"} <= arrows["retargeting"]
    assert circle_in(arrows) == []


def test_imports_run_one_way() -> None:
    arrows = {(room(one), room(other)) for one, others in graph().items() for other in others}
    assert ("operators.bake", "scene.bake") in arrows
    assert ("panels.bake", "robik") in arrows
    assert [(one, other) for one, other in arrows if one != other and ORDER.index(other) > ORDER.index(one)] == []


@pytest.mark.parametrize("foreign", ["bpy", "bpy_extras", "mathutils", "gpu", "gpu_extras"])
def test_only_the_add_on_imports_blender(foreign: str) -> None:
    sources = {name: {other.partition(".")[0] for other in imported(name, file)} for name, file in modules().items()}
    found = {name for name, others in sources.items() if foreign in others}
    assert found
    assert {name for name in found if name.startswith("robik")} == set()


def test_the_product_imports_no_experiment() -> None:
    found = {name: list(imported(name, file)) for name, file in modules().items()}
    assert {
        name: others
        for name, others in found.items()
        if any(other.partition(".")[0] == "experiments" for other in others)
    } == {}


def test_no_file_is_long() -> None:
    lengths = {name: len(file.read_text(encoding="utf-8").splitlines()) for name, file in modules().items()}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def test_each_file_of_tests_in_blender_has_some_for_every_blender() -> None:
    """On 4.2, `.ci/run` leaves out what bears one of these marks."""
    left = {"pytest.mark.long", "pytest.mark.one_blender"}
    for file in sorted((CHECKOUT / "tests" / "blender").glob("test_*.py")):
        tests = [n for n in nodes(file) if isinstance(n, ast.FunctionDef) and n.name.startswith("test_")]
        assert any(left.isdisjoint(map(ast.unparse, test.decorator_list)) for test in tests), file.name
