"""Docstrings and functions of the source: heads, sections, glossary words, lengths."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.syntax import nodes

CHECKOUT = Path(__file__).parents[2]
FOLDERS = ("robik", "scene", "operators", "panels", "translations", "experiments", "tools", "demo", "examples")
QUESTIONS = re.compile(r"(What|How|Where|Whether|Which|When|Who|Whom|Whose|Why)\b")
LONGEST = 40  # lines of a function without its docstring
# The front door and the interfaces that others implement: their public functions have Args, Returns and Raises with
# shapes, units and errors. Everywhere else a docstring is a sentence.
SECTIONED = {
    "robik/bake/bake.py", "robik/bake/request.py", "robik/bake/settings.py", "robik/clips/clip.py", "robik/errors.py",
    "robik/formats/__init__.py", "robik/kinematics/calls.py",
    "robik/kinematics/mobility.py", "robik/mechanism/model.py", "robik/mechanism/parts.py",
    "robik/mechanism/pose.py", "robik/mechanism/visual.py", "robik/motions/format.py", "robik/motions/motion.py",
    "robik/motions/registry.py", "robik/motions/report.py", "robik/motions/results.py", "robik/objectives/objective.py",
    "robik/objectives/settings.py", "robik/objectives/weights.py",
    "robik/recordings/character_file.py", "robik/recordings/recording.py", "robik/recordings/retargeting.py",
    "robik/retargeting/following_poses.py", "robik/retargeting/mirroring.py", "robik/retargeting/own_range.py",
    "robik/motions/posing.py", "robik/retargeting/reach_map.py", "robik/retargeting/retarget.py",
    "robik/retargeting/solve_pose.py", "robik/robots/__init__.py",
    "robik/servo/brands/brand.py", "robik/servo/brands/driver.py", "robik/servo/bus/line.py",
    "robik/servo/chain/chain.py", "robik/servo/simulator/simulated.py",
    "robik/servo/brands/wired/line.py", "robik/servo/brands/wired/unguarded.py", "robik/servo/brands/wired/wire.py",
    "robik/servo/brands/wired/workshop.py", "robik/servo/brands/workshop.py", "robik/surroundings/obstacle.py",
    "robik/tracking/live.py", "robik/tracking/targets.py", "robik/tracking/tracker.py",
}  # fmt: skip
SECTION = re.compile(r"(?m)^(Args|Returns|Yields|Raises):$")
# Functions that read better long: one loop with its exits, which share a dozen values.
LONG = {"robik/formats/assembly/closing.py:_descend", "robik/ik/sqp.py:minimise"}


def sources(*folders: str) -> Iterator[tuple[str, tuple[ast.AST, ...]]]:
    """Yield the path of each file and its nodes."""
    for folder in folders:
        for file in sorted((CHECKOUT / folder).rglob("*.py")):
            yield file.relative_to(CHECKOUT).as_posix(), nodes(file)


def public(body: list[ast.stmt]) -> Iterator[ast.FunctionDef]:
    """Yield public functions, and public methods of public classes."""
    for node in body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            if not any("setter" in ast.unparse(decorator) for decorator in node.decorator_list):
                yield node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public(node.body)


def parameters(function: ast.FunctionDef) -> list[str]:
    """Return the names of a function's parameters but for `self` and `cls`."""
    found = function.args
    return [a.arg for a in (*found.posonlyargs, *found.args, *found.kwonlyargs) if a.arg not in ("self", "cls")]


def own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes of a function, without those of functions in it."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def gives(function: ast.FunctionDef) -> bool:
    """Return whether a function returns or yields values; a context manager that yields none does not."""
    annotation = ast.unparse(function.returns) if function.returns else ""
    if annotation in ("None", "Never", "NoReturn", "Iterator[None]"):
        return False
    values = (node.value for node in own_nodes(function) if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom))
    return bool(annotation) or any(value is not None for value in values)


def is_property(function: ast.FunctionDef) -> bool:
    """Return whether a method is read as an attribute."""
    return any("property" in ast.unparse(decorator) for decorator in function.decorator_list)


def lacks(function: ast.FunctionDef) -> list[str]:
    """Return the sections that a public function's docstring should have and has not.

    Google's rule: what takes nothing and says in its first line what it returns needs no section to repeat it.
    """
    text = ast.get_docstring(function) or ""
    takes = bool(parameters(function))
    says = not takes and (is_property(function) or text.startswith(("Return ", "Return,")))
    needed = (["Args"] if takes else []) + (["(Returns|Yields)"] if gives(function) and not says else [])
    return [section for section in needed if not re.search(rf"(?m)^{section}:$", text)]


def classes() -> dict[str, list[ast.ClassDef]]:
    """Return all classes of the source by name."""
    found: dict[str, list[ast.ClassDef]] = {}
    for _, inside in sources(*FOLDERS):
        for node in inside:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(node)
    return found


def bases_of(node: ast.ClassDef, known: Mapping[str, list[ast.ClassDef]]) -> Iterator[ast.ClassDef]:
    """Yield the classes of the source that a class is derived from."""
    for base in node.bases:
        name = ast.unparse(base).partition("[")[0].rpartition(".")[2]
        for found in known.get(name, ()):
            if found is not node:
                yield found
                yield from bases_of(found, known)


def documented(node: ast.ClassDef) -> set[str]:
    """Return the methods of a class that have a docstring."""
    return {item.name for item in node.body if isinstance(item, ast.FunctionDef) and ast.get_docstring(item)}


def test_the_front_door_documents_arguments_and_results() -> None:
    known = classes()
    every = {}
    for path, (module, *inside) in sources("robik"):
        if path in SECTIONED:
            inherited = {
                (node.name, name)
                for node in inside
                if isinstance(node, ast.ClassDef)
                for base in bases_of(node, known)
                for name in documented(base)
            }
            names = {id(f): c.name for c in inside if isinstance(c, ast.ClassDef) for f in c.body}
            for f in public(module.body):
                if (names.get(id(f), ""), f.name) not in inherited:
                    every[f"{path}:{f.lineno} {f.name}"] = f
    assert len(every) > 200
    assert {path for path, _ in sources("robik")} >= SECTIONED
    assert [name for name, function in every.items() if lacks(function)] == []


def test_everywhere_else_a_docstring_is_a_sentence() -> None:
    found = [
        f"{path}:{node.lineno} {node.name}"
        for path, inside in sources(*FOLDERS)
        if path not in SECTIONED
        for node in inside
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and SECTION.search(ast.get_docstring(node) or "")
    ]
    assert found == []


def test_public_methods_are_documented_where_they_are_declared_and_overrides_are_bare() -> None:
    known = classes()
    bare, repeated = [], []
    for path, (module, *_) in sources("robik", "scene"):
        for node in module.body:
            if isinstance(node, ast.ClassDef):
                inherited = {name for base in bases_of(node, known) for name in documented(base)}
                for method in public([node]):
                    if ast.unparse(method.body[-1]) == "...":
                        continue  # of a protocol
                    if (text := ast.get_docstring(method)) is None and method.name not in inherited:
                        bare.append(f"{path}:{method.lineno} {node.name}.{method.name}")
                    if text and method.name in inherited and len(method.body) > 1:
                        repeated.append(f"{path}:{method.lineno} {node.name}.{method.name}")
    assert (bare, repeated) == ([], [])


def test_docstrings_begin_with_a_noun_or_a_verb() -> None:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    found = [
        f"{path}: {text.splitlines()[0]}"
        for path, inside in sources(*FOLDERS)
        for node in inside
        if isinstance(node, documented) and (text := ast.get_docstring(node)) and QUESTIONS.match(text)
    ]
    assert found == []


def code_lines(function: ast.FunctionDef) -> int:
    """Return the lines of a function without its docstring."""
    total = (function.end_lineno or 0) - function.lineno + 1
    if ast.get_docstring(function) is not None:
        total -= (function.body[0].end_lineno or 0) - function.body[0].lineno + 1
    return total


def test_no_function_is_long() -> None:
    found = {
        f"{path}:{node.name}": lines
        for path, inside in sources(*FOLDERS)
        for node in inside
        if isinstance(node, ast.FunctionDef) and (lines := code_lines(node)) > LONGEST
    }
    assert found.keys() >= LONG, "an exception that is none any more"
    assert {name: lines for name, lines in found.items() if name not in LONG} == {}


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("def f(a: int) -> int:\n    '''Return one.'''", ["Args", "(Returns|Yields)"]),
        ("def f(a: int) -> None:\n    '''Do.\n\n    Args:\n        a: One.\n    '''", []),
        ("def f() -> int:\n    '''Give one.'''", ["(Returns|Yields)"]),
        ("def f() -> int:\n    '''Return one.'''", []),
        ("@property\ndef f() -> int:\n    '''One.'''", []),
        ("def f(flat):\n    '''Do.\n\n    Args:\n        flat: One.\n    '''\n    return 1", ["(Returns|Yields)"]),
    ],
)
def test_a_missing_section_is_found(text: str, missing: list[str]) -> None:
    (function,) = public(ast.parse(text).body)
    assert lacks(function) == missing


def test_records_of_kernels_say_what_each_field_holds() -> None:
    found = []
    for path, inside in sources("robik"):
        lines = (CHECKOUT / path).read_text(encoding="utf-8").splitlines()
        for record in inside:
            if isinstance(record, ast.ClassDef) and "NamedTuple" in map(ast.unparse, record.bases):
                text = ast.get_docstring(record) or ""
                fields = [field for field in record.body if isinstance(field, ast.AnnAssign)]
                found += [
                    f"{path}: {record.name}.{ast.unparse(field.target)}"
                    for field in fields
                    if "Attributes:" not in text and "#" not in " ".join(lines[field.lineno - 1 : field.end_lineno])
                ]
    assert found == []
