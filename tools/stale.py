"""Compiled code that a change of one module makes stale, so that the rest need not be compiled again.

As a plugin of pytest (`-p tools.stale`) it lets the process load what is on disk for the unchanged sources, but for
the modules that the environment lists.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

LISTED = "ROBIK_STALE_MODULES"
CHECKOUT = Path(__file__).resolve().parents[1]
PRISTINE = "ROBIK_PRISTINE_SOURCES"  # their digest


def stale(library: Path, changed: str) -> list[str]:
    """Return the files whose compiled code a change of one of them makes stale; all paths are from the checkout.

    A kernel is called by its name. Functions that are inlined, and constants, are a part of what uses them.
    """
    modules = _modules(library)
    found, new = {changed}, [changed]
    while new:
        module = new.pop()
        name = module.removesuffix(".py").removesuffix("/__init__")
        for file in modules.keys() - found:
            if modules[file].taken.get(name, set()) - modules[module].kernels:
                found.add(file)
                new.append(file)
    return sorted(found)


@cache
def compiles(library: Path, changed: str) -> bool:
    """Return whether anything must be compiled again after a change of a module."""
    return any(_modules(library)[file].is_compiled for file in stale(library, changed))


@dataclass(frozen=True)
class _Module:
    """Names that a module gives to others and takes of them.

    Attributes:
        is_compiled: whether there are kernels in it, or what is inlined in those of others.
        kernels: the functions that others call by name: kernels, and all that is not compiled.
        taken: the names that it imports, by the module's path from the checkout without its suffix.
    """

    is_compiled: bool
    kernels: set[str]
    taken: dict[str, set[str]]


@cache
def _modules(library: Path) -> dict[str, _Module]:
    """Return all modules by their path from the checkout."""
    found = {}
    for file in sorted(library.rglob("*.py")):
        tree, name = ast.parse(file.read_text(encoding="utf-8")), file.relative_to(library.parent)
        found[name.as_posix()] = _Module(_is_compiled(tree), _kernels(tree), _taken(name.parent, tree))
    return found


def _is_compiled(tree: ast.Module) -> bool:
    """Return whether any function of a module is compiled."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    decorators = [ast.unparse(one) for node in functions for one in node.decorator_list]
    return any(one.startswith(("kernel", "inlined", "compiled_for_record")) for one in decorators)


def _kernels(tree: ast.Module) -> set[str]:
    """Return the functions of a module that others call by name."""
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not any(ast.unparse(one).startswith(("inlined", "compiled_for_record")) for one in node.decorator_list)
    }


def _taken(package: Path, tree: ast.Module) -> dict[str, set[str]]:
    """Return the names that a module in a package imports, by where from; of whole modules what it uses of them."""
    imports, used = [], defaultdict(set)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            imports.append(node)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            used[node.value.id].add(node.attr)
    taken = defaultdict(set)
    for node in imports:
        source = (package, *package.parents)[node.level - 1].joinpath(*(node.module or "").split(".")).as_posix()
        for alias in node.names:
            taken[source].add(alias.name)
            taken[f"{source}/{alias.name}"] |= used[alias.asname or alias.name]
    return taken


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
