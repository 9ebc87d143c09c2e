"""Source of the extension, by the guidelines of Blender's extension platform."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests import syntax
from tools.extension import ADD_ON, CHECKOUT, MANIFEST, files

SOURCES = [file for name in ADD_ON for file in files(CHECKOUT / name) if file.suffix == ".py"]
OURS = {"robik", "scene", "operators", "panels", "translations"}
CHILD = CHECKOUT / "robik" / "program.py"
# Names by which a Python could install or fetch something, or change where modules come from.
FORBIDDEN_IMPORTS = {"pip", "ensurepip", "site", "urllib.request", "http.client", "requests", "socketserver", "ftplib"}
DAEMON = (
    CHECKOUT / "robik" / "servo" / "brands" / "reachy" / "daemon.py"
)  # asks the robot that the user names as its port
WRITES = {
    "write_text",
    "write_bytes",
    "mkdir",
    "makedirs",
    "touch",
    "unlink",
    "rename",
    "replace",
    "rmtree",
    "write_whole",
}


@cache
def nodes(kind: type) -> list[tuple[Path, ast.AST]]:
    """Return all nodes of a kind, with the file that each is in."""
    return [(file, node) for file in SOURCES for node in syntax.nodes(file) if isinstance(node, kind)]


def imports() -> Iterator[tuple[Path, str]]:
    """Yield the absolute imports, each with the file that it is in."""
    for file, node in nodes(ast.Import):
        yield from ((file, alias.name) for alias in node.names)  # type: ignore[attr-defined]
    for file, node in nodes(ast.ImportFrom):
        if not node.level:  # type: ignore[attr-defined]
            yield file, node.module  # type: ignore[attr-defined]
            yield from ((file, f"{node.module}.{alias.name}") for alias in node.names)  # type: ignore[attr-defined]


def attributes(owner: str, name: str) -> list[tuple[Path, ast.AST]]:
    """Return where an attribute of a module is used, such as `sys.path`."""
    return [
        (file, node) for file, node in nodes(ast.Attribute) if node.attr == name and ast.unparse(node.value) == owner
    ]  # type: ignore[attr-defined]


def test_the_check_sees_the_whole_extension() -> None:
    assert {file.relative_to(CHECKOUT).parts[0] for file in SOURCES} == OURS | {"__init__.py"}
    assert len(SOURCES) > 200
    assert "numpy" in {name for _, name in imports()}


def test_modules_import_each_other_relatively() -> None:
    """Else they would depend on the extension's name, or on what else is called so."""
    assert [(file, name) for file, name in imports() if name.partition(".")[0] in OURS | {"bl_ext"}] == []


def test_nobody_changes_where_modules_come_from() -> None:
    """`sys.path` is read in one place, for processes that are started; a module's entry is set there alone, in such a
    process."""
    assert {file for file, _ in attributes("sys", "path")} == {CHILD}
    assert len(attributes("sys", "path")) == 1
    entries = [(file, node) for file, node in nodes(ast.Subscript) if ast.unparse(node).startswith("sys.modules[")]
    assert [file for file, node in entries if isinstance(node.ctx, ast.Store)] == [CHILD]  # type: ignore[attr-defined]
    assert [file for file, node in nodes(ast.Delete) if "sys.modules" in ast.unparse(node)] == []


@pytest.mark.parametrize("forbidden", sorted(FORBIDDEN_IMPORTS))
def test_nothing_is_installed_or_fetched(forbidden: str) -> None:
    found = {file for file, name in imports() if name == forbidden or name.startswith(f"{forbidden}.")}
    assert found == ({DAEMON} if forbidden == "http.client" else set())


def test_nothing_is_written_beside_the_extension() -> None:
    """A module that knows where it lies writes nothing itself. (tests/blender/test_installation.py looks at the folder
    after a bake.)"""
    aware = {file for file, node in nodes(ast.Name) if node.id in ("__file__", "__path__")}  # type: ignore[attr-defined]
    assert CHILD in aware
    called = {
        file: name for file, node in nodes(ast.Call) if (name := ast.unparse(node.func).rpartition(".")[2]) in WRITES
    }  # type: ignore[attr-defined]
    assert called
    assert {file: called[file] for file in aware & set(called)} == {}


def test_the_manifest_asks_for_what_is_used_only() -> None:
    manifest = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))
    assert set(manifest["permissions"]) == {"files", "network"}
    for reason in manifest["permissions"].values():
        assert len(reason) <= 64
        assert not reason.endswith((".", "!"))
    assert len(manifest["tagline"]) <= 64
    assert "blender" not in manifest["name"].lower()
    assert manifest["website"] == f"https://extensions.blender.org/add-ons/{manifest['id']}/"


def test_all_files_name_the_same_website() -> None:
    manifest = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (CHECKOUT / "CITATION.cff").read_text(encoding="utf-8")
    assert project["urls"]["Homepage"] == manifest["website"]
    assert f'\nurl: "{manifest["website"]}"\n' in citation
