"""Compiled code that a change of one module makes stale, so that the rest need not be compiled again.

As a plugin of pytest (`-p tools.stale`) it lets the process load what is on disk for the unchanged sources, but for
the modules that the environment lists.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

LISTED = "ROBIK_STALE_MODULES"
CHECKOUT = Path(__file__).resolve().parents[1]
PRISTINE = "ROBIK_PRISTINE_SOURCES"  # their digest


def stale(library: Path, changed: str) -> list[str]:
    """Return the files, from the checkout, whose compiled code a change of one of them makes stale.

    A kernel is called by its name. Functions that are inlined, and constants, are a part of what uses them.

    Args:
        library: its folder.
        changed: the module, from the checkout.
    """
    trees = _trees(library)
    found, new = {changed}, [changed]
    while new:
        module = new.pop()
        kernels = _kernels(trees[module])
        for name in trees.keys() - found:
            if _taken(name, trees[name], module) - kernels:
                found.add(name)
                new.append(name)
    return sorted(found)


@cache
def _trees(library: Path) -> dict[str, ast.Module]:
    """Return all modules, parsed, by their path from the checkout."""
    return {
        file.relative_to(library.parent).as_posix(): ast.parse(file.read_text(encoding="utf-8"))
        for file in sorted(library.rglob("*.py"))
    }


def _kernels(tree: ast.Module) -> set[str]:
    """Return the functions of a module that others call by name: kernels, and all that is not compiled."""
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not any(ast.unparse(one).startswith(("inlined", "compiled_for_record")) for one in node.decorator_list)
    }


def _taken(file: str, tree: ast.Module, module: str) -> set[str]:
    """Return the names that a file imports from a module; `*` stands for the module itself."""
    package, wanted = Path(file).parent, module.removesuffix(".py").removesuffix("/__init__")
    taken = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package
            for _ in range(node.level - 1):
                base = base.parent
            source = base.joinpath(*(node.module or "").split(".")).as_posix()
            for alias in node.names:
                if source == wanted:
                    taken.add(alias.name)
                elif f"{source}/{alias.name}" == wanted:
                    taken |= _attributes(tree, alias.asname or alias.name)
    return taken


def _attributes(tree: ast.Module, module: str) -> set[str]:
    """Return what a file uses of a module that it imports as a whole."""
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == module
    }


def pristine(library: Path) -> str:
    """Return the digest of a library's sources, without numba."""
    return str(_module(library / "jit" / "sources.py", "robik_sources").sources())


def _module(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pytest_configure() -> None:
    """Take the digest of the unchanged sources for this process's, and other stamps for the listed modules."""
    if LISTED not in os.environ:
        return
    digest = os.environ[PRISTINE]
    sources = _module(CHECKOUT / "robik" / "jit" / "sources.py", "robik.jit.sources")
    setattr(sources, "sources", lambda: digest)  # noqa: B010 - a module is known to have what it had
    sys.modules["robik.jit.sources"] = sources
    from robik.jit import fast

    listed, stamp = {str(CHECKOUT / name) for name in os.environ[LISTED].split(os.pathsep)}, fast._digest
    fast._digest = lambda source: f"{stamp(source)} changed" if source in listed else stamp(source)  # type: ignore[assignment]
