"""Structure of the source: no circles, imports in one direction, bpy only in Blender's part, no long files."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
BLENDER = ("scene", "operators", "panels")
LONGEST = 400  # lines of a file
# Each may import those before it.
SCENE = (
    "long_work", "animation", "robot", "character", "balance", "bake", "overlay", "servos", "importing", "migration", "properties"
)  # fmt: skip
OPERATORS = ("reporting", "stepping", "robot", "character", "balance", "bake", "servos", "command_line")
PANELS = ("manual", "tab", "robot", "character", "balance", "bake", "overlay", "servos")
ORDER = ("robik", *(f"{part}.{name}" for part, names in zip(BLENDER, (SCENE, OPERATORS, PANELS), strict=True) for name in (*names, "")), "")


def modules() -> dict[str, Path]:
    """Return the files of the library and the add-on by module name; the root's name is empty."""
    files = [CHECKOUT / "__init__.py", *(file for part in ("robik", *BLENDER) for file in sorted((CHECKOUT / part).rglob("*.py")))]
    return {".".join(file.relative_to(CHECKOUT).with_suffix("").parts).removesuffix("__init__").rstrip("."): file for file in files}


def imported(name: str, file: Path, known: Iterable[str] = ()) -> Iterator[str]:
    """Yield what a module imports: modules among the known ones where it takes names from their package, else what it says."""
    package = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join(filter(None, (*base, node.module)))
            for alias in node.names:
                inner = f"{source}.{alias.name}".lstrip(".")
                yield inner if inner in known else source


def graph() -> dict[str, set[str]]:
    """Return the modules that each module imports."""
    known = modules()
    return {name: {other for other in imported(name, file, known) if other in known} - {name} for name, file in known.items()}


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
    return f"{part}.{rest.partition('.')[0]}" if part in BLENDER else part


def test_no_modules_import_one_another_in_a_circle() -> None:
    arrows = {name: others for name, others in graph().items() if not name.startswith("robik")}
    assert len(arrows) > 100
    assert circle_in(arrows) == []


def test_imports_run_one_way() -> None:
    arrows = {(room(one), room(other)) for one, others in graph().items() for other in others}
    assert ("operators.bake", "scene.bake") in arrows
    assert ("panels.bake", "robik") in arrows
    assert [(one, other) for one, other in arrows if one != other and ORDER.index(other) > ORDER.index(one)] == []


@pytest.mark.parametrize("foreign", ["bpy", "bpy_extras", "mathutils", "gpu", "gpu_extras"])
def test_only_the_add_on_imports_blender(foreign: str) -> None:
    found = {name for name, file in modules().items() if foreign in {other.partition(".")[0] for other in imported(name, file)}}
    assert found
    assert {name for name in found if name.startswith("robik")} == set()


def test_the_product_imports_no_experiment() -> None:
    found = {name: list(imported(name, file)) for name, file in modules().items()}
    assert {name: others for name, others in found.items() if any(other.partition(".")[0] == "experiments" for other in others)} == {}


def test_no_file_is_long() -> None:
    lengths = {name: len(file.read_text(encoding="utf-8").splitlines()) for name, file in modules().items()}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}
