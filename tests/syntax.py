"""Syntax trees of source files, parsed once for all tests that read the source."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def nodes(file: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file, its module first."""
    return tuple(ast.walk(ast.parse(file.read_bytes())))


@cache
def imports(file: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """A file's import statements, those within functions too."""
    return tuple(node for node in nodes(file) if isinstance(node, ast.Import | ast.ImportFrom))
