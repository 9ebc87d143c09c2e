"""Faults that a module can get: one at a time, each as the source of the whole module."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path

OTHER: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div, ast.Pow: ast.Mult,
    ast.Mod: ast.Mult, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or,
    ast.Or: ast.And, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
INVERSE: dict[type, type] = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}
TEXTS = ("annotation", "returns", "decorator_list")  # fields whose content does not compute
CALLS = {"field", "namedtuple", "TypeVar", "kernel"}  # calls whose arguments do not compute either


@dataclass(frozen=True)
class Site:
    """Place of a fault.

    Attributes:
        file: the module, from the checkout.
        place: index of the node among those that compute something.
        which: index among what it may be instead.
    """

    file: str
    place: int
    which: int


@dataclass(frozen=True)
class Mutation:
    """One fault.

    Attributes:
        file: the module, from the checkout.
        name: file, function, and what is there instead of what.
        source: of the module with the fault.
    """

    file: str
    name: str
    source: str


@cache
def names(checkout: Path, file: str) -> dict[Site, str]:
    """Return the names of all faults that a module can get, by their places."""
    found, times = {}, Counter[tuple[str, type, str]]()
    for place, (function, node) in enumerate(_nodes(ast.parse((checkout / file).read_text(encoding="utf-8")), "")):
        variants = range(len(_variants(node)))
        before = ast.unparse(node) if variants else ""
        times[function, type(node), before] += 1
        number = times[function, type(node), before]
        for which in variants:
            name = f"{file}:{function}: {before} -> {_apply(deepcopy(node), which)}"
            found[Site(file, place, which)] = name if number == 1 else f"{name} ({number})"
    return found


def mutated(checkout: Path, site: Site) -> Mutation:
    """Return the fault at a place."""
    tree = ast.parse((checkout / site.file).read_text(encoding="utf-8"))
    _apply(list(_nodes(tree, ""))[site.place][1], site.which)
    return Mutation(site.file, names(checkout, site.file)[site], ast.unparse(tree))


def _nodes(node: ast.AST, function: str) -> Iterator[tuple[str, ast.AST]]:
    """Yield the nodes that compute something, each with the name of the function around it, in a set order."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        function = f"{function}.{node.name}".lstrip(".")
    yield function, node
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name not in TEXTS and not _is_text(child):
                yield from _nodes(child, function)


def _is_text(node: ast.AST) -> bool:
    """Return whether a node is an import, a text, a raised sentence, a declaration, or a check of lengths in `zip`."""
    if isinstance(node, ast.keyword):
        return node.arg == "strict"
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in CALLS
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    return isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr | ast.Raise)


def _variants(node: ast.AST) -> list[object]:
    """Return what a node's operator, comparison or constant may be instead."""
    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op) | ast.BoolOp(op=op):
            text = isinstance(node, ast.BinOp) and isinstance(node.left, ast.Constant | ast.JoinedStr)
            is_text = text and isinstance(getattr(node.left, "value", ""), str)  # type: ignore[union-attr]
            return [OTHER[type(op)]()] if type(op) in OTHER and not is_text else []
        case ast.Compare(ops=[op]):
            return [table[type(op)]() for table in (OTHER, INVERSE) if type(op) in table]
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            return [] if isinstance(operand, ast.Constant) and isinstance(node.op, ast.Not) else [operand]
        case ast.Constant(value=bool(value)):
            return [not value]
        case ast.Constant(value=int(value)):
            return [value + 1]
        case ast.Constant(value=float(value)):
            return [2.0 * value if value else 1.0]
    return []


def _apply(node: ast.AST, which: int) -> str:
    """Put a variant into a node; return what it is then."""
    variant = _variants(node)[which]
    match node:
        case ast.Compare():
            node.ops = [variant]  # type: ignore[list-item]
        case ast.UnaryOp():
            node.op, node.operand = ast.UAdd(), variant  # type: ignore[assignment]
            if isinstance(variant, ast.Compare | ast.Name | ast.Call | ast.Attribute | ast.BoolOp | ast.Subscript):
                return _become(node, variant)
        case ast.Constant():
            node.value = variant  # type: ignore[assignment]
        case _:
            node.op = variant  # type: ignore[attr-defined]
    return ast.unparse(node)


def _become(node: ast.UnaryOp, operand: ast.expr) -> str:
    """Turn `not x` and `-x` into `x`, as an `and` of one part: another node cannot take its place."""
    del node.op
    node.__class__ = ast.BoolOp  # type: ignore[assignment]
    node.op, node.values = ast.And(), [operand]  # type: ignore[attr-defined, assignment]
    return ast.unparse(operand)
