"""Expressions of robot files, computed without running them as Python.

Arithmetic, comparisons, lists, and the functions that are named.

What a file may do is what is listed here. There is no attribute but the keys of dictionaries and the methods in
`METHODS`, no function but those that the caller gives, and no result of more than `LARGEST` elements, characters or
digits.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ...errors import FormatError

LONGEST = 10_000  # characters of an expression
LARGEST = 100_000  # elements of a list, characters of a text, bits of a number
MOST_STEPS = 200_000  # parts of an expression that are computed, those of a comprehension each time
METHODS = {
    str: {
        "capitalize",
        "endswith",
        "find",
        "isdigit",
        "lower",
        "lstrip",
        "replace",
        "rstrip",
        "split",
        "startswith",
        "strip",
        "upper",
    },
    dict: {"get", "items", "keys", "values"},
    list: {"count", "index"},
}
BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Pow: operator.pow,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_, ast.IsNot: operator.is_not, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip
UNARY: dict[type, Callable[[Any], Any]] = {ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Not: operator.not_}
# Of a value in a text: no names, and no width that another value says.
PLACE = re.compile(r"%(?:%|[-+ 0#]*\d{0,2}(?:\.\d{0,2})?[deEfgGsxX])")
PARTS = (ast.Name, ast.Attribute, ast.Subscript)  # of values that are checked already


def _range(*ends: int) -> list[int]:
    numbers = range(*ends)
    if len(numbers) > LARGEST:
        raise ValueError(f"a range of more than {LARGEST} numbers")
    return list(numbers)


def _sum(values: Any, start: float = 0) -> Any:
    if not isinstance(start, (int, float)):
        raise TypeError("only numbers can be summed")
    return sum(values, start)


def _limited(values: Iterable[Any]) -> list[Any]:
    """Return the values as a list, whose total size must not be too large."""
    found, size = [], 0
    for value in values:
        size += _size(value)
        if size > LARGEST:
            raise ValueError(f"more than {LARGEST} elements")
        found.append(value)
    return found


def _round(number: float, digits: int | None = None) -> Any:
    if digits is not None and abs(digits) > LONGEST:
        raise ValueError("too many digits")
    return round(number, digits)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs, "all": all, "any": any, "bool": bool, "float": float, "int": int, "len": len, "max": max, "min": min,
    "round": _round,
    "sorted": sorted, "sum": _sum, "list": list, "tuple": tuple, "dict": dict, "str": str, "range": _range, "set": set,
    "isinstance": isinstance, "map": lambda function, *values: _limited(map(function, *values)),
    "filter": lambda function, values: _limited(filter(function, values)),
    "zip": lambda *values: _limited(zip(*values, strict=False)), "enumerate": lambda *at: _limited(enumerate(*at)),
    "reversed": lambda values: _limited(reversed(values)),
}  # fmt: skip
MATHEMATICS: dict[str, Any] = {
    name: getattr(math, name)
    for name in ("acos", "asin", "atan", "atan2", "ceil", "copysign", "cos", "cosh", "degrees", "e", "exp", "fabs",
                 "floor", "fmod",
                 "hypot", "inf", "isclose", "isfinite", "isinf", "isnan", "log", "log10", "log2", "modf", "nan", "pi",
                 "pow", "radians",
                 "sin", "sinh", "sqrt", "tan", "tanh", "tau", "trunc")
}  # fmt: skip


class Namespace(dict):
    """Names that an expression reaches by a dot: `math.pi`."""


def evaluate(text: str, names: Mapping[str, Any]) -> Any:
    """Return the value of an expression; raise FormatError if it has none.

    `names` has what it may name: values, functions, dictionaries and `Namespace`s.
    """
    if len(text) > LONGEST:
        raise FormatError(f"an expression of more than {LONGEST} characters")
    try:
        return _Evaluation(names).of(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, MemoryError, RecursionError):
        raise FormatError(f"not an expression: {text[:80]!r}") from None
    except (ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError) as error:
        raise FormatError(f"{text[:80]!r} cannot be computed: {error}") from None


class _Evaluation:
    """One walk through an expression's tree."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self.names: Mapping[str, Any] = names
        self.steps = 0

    def of(self, node: ast.expr) -> Any:
        """Return the value of a part."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise ValueError(f"more than {MOST_STEPS} steps")
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise FormatError(
                f"an expression must not have a {type(node).__name__}; numbers, texts, lists and operators can be used"
            )
        value = method(node)
        return value if isinstance(node, PARTS) else _checked(value)

    def _constant(self, node: ast.Constant) -> Any:
        if not isinstance(node.value, (int, float, str, bool, type(None))):
            raise FormatError(f"an expression must not have a {type(node.value).__name__}")
        return node.value

    def _name(self, node: ast.Name) -> Any:
        try:
            return self.names[node.id]
        except KeyError:
            raise NameError(f"name '{node.id}' is not defined") from None

    def _list(self, node: ast.List) -> list:
        return [self.of(each) for each in node.elts]

    def _tuple(self, node: ast.Tuple) -> tuple:
        return tuple(self.of(each) for each in node.elts)

    def _dict(self, node: ast.Dict) -> dict:
        if None in node.keys:
            raise FormatError("an expression must not unpack a dictionary")
        return {
            self.of(key): self.of(value) for key, value in zip(node.keys, node.values, strict=True) if key is not None
        }

    def _listcomp(self, node: ast.ListComp | ast.GeneratorExp) -> list:
        return _limited(self.of(node.elt) for _ in self._turns(node.generators))

    _generatorexp = _listcomp

    def _setcomp(self, node: ast.SetComp) -> set:
        return set(_limited(self.of(node.elt) for _ in self._turns(node.generators)))

    def _dictcomp(self, node: ast.DictComp) -> dict:
        return dict(_limited((self.of(node.key), self.of(node.value)) for _ in self._turns(node.generators)))

    def _set(self, node: ast.Set) -> set:
        return {self.of(each) for each in node.elts}

    def _turns(self, generators: list[ast.comprehension]) -> Iterator[None]:
        """Set the names of comprehensions' `for`, one after the other."""
        if not generators:
            yield
            return
        first, *others = generators
        outer = self.names
        for value in self.of(first.iter):
            self.names = {**outer, **_bound(first.target, value)}
            if all(self.of(test) for test in first.ifs):
                yield from self._turns(others)
        self.names = outer

    def _boolop(self, node: ast.BoolOp) -> Any:
        value = None
        for each in node.values:
            value = self.of(each)
            if bool(value) != isinstance(node.op, ast.And):
                break
        return value

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        if type(node.op) not in UNARY:
            raise FormatError("an expression must not have the operator ~")
        return UNARY[type(node.op)](self.of(node.operand))

    def _binop(self, node: ast.BinOp) -> Any:
        return self._binary(node.op, self.of(node.left), self.of(node.right))

    def _compare(self, node: ast.Compare) -> Any:
        left = self.of(node.left)
        for op, each in zip(node.ops, node.comparators, strict=True):
            right = self.of(each)
            if not self._binary(op, left, right):
                return False
            left = right
        return True

    def _binary(self, op: ast.operator | ast.cmpop, a: Any, b: Any) -> Any:
        if type(op) not in BINARY:
            raise FormatError(f"an expression must not have the operator {type(op).__name__}")
        if isinstance(op, ast.Mod) and isinstance(a, str):
            return _formatted(a, b)
        if (
            isinstance(op, ast.Pow)
            and isinstance(a, int)
            and isinstance(b, int)
            and abs(b) * max(a.bit_length(), 1) > LARGEST
        ):
            raise ValueError("a number of too many digits")
        if isinstance(op, ast.Mult):
            for many, times in ((a, b), (b, a)):
                if isinstance(many, (str, list, tuple)) and isinstance(times, int) and len(many) * times > LARGEST:
                    raise ValueError(f"more than {LARGEST} elements")
        return BINARY[type(op)](a, b)

    def _ifexp(self, node: ast.IfExp) -> Any:
        return self.of(node.body if self.of(node.test) else node.orelse)

    def _subscript(self, node: ast.Subscript) -> Any:
        return self.of(node.value)[self._index(node.slice)]

    def _index(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Slice):
            return slice(*(None if end is None else self.of(end) for end in (node.lower, node.upper, node.step)))
        return self.of(node)

    def _attribute(self, node: ast.Attribute) -> Any:
        owner = self.of(node.value)
        if isinstance(owner, Mapping) and not node.attr.startswith("_"):
            return owner[node.attr]
        raise FormatError(f"an expression must not reach for .{node.attr}")

    def _call(self, node: ast.Call) -> Any:
        if any(isinstance(each, ast.Starred) for each in node.args) or any(each.arg is None for each in node.keywords):
            raise FormatError("an expression must not unpack arguments")
        arguments = [self.of(each) for each in node.args]
        named = {str(each.arg): self.of(each.value) for each in node.keywords}
        function = self._function(node.func)
        return function(*arguments, **named)

    def _function(self, node: ast.expr) -> Callable[..., Any]:
        """Return what a call calls: a function that a name stands for, or a method that is listed."""
        if isinstance(node, ast.Attribute):
            owner = self.of(node.value)
            for kind, methods in METHODS.items():
                if isinstance(owner, kind) and not isinstance(owner, Namespace) and node.attr in methods:
                    if node.attr == "replace":
                        return lambda old, new: _replaced(owner, old, new)
                    found: Callable[..., Any] = getattr(kind, node.attr).__get__(owner)
                    return found
        function = self.of(node)
        if not callable(function):
            raise TypeError("only functions can be called")
        return function


def _bound(target: ast.expr, value: Any) -> dict[str, Any]:
    """Return what a comprehension's target names: a name, or a tuple of such."""
    if isinstance(target, ast.Name):
        return {target.id: value}
    if isinstance(target, (ast.Tuple, ast.List)):
        pairs = zip(target.elts, value, strict=True)
        return {name: inner for each, part in pairs for name, inner in _bound(each, part).items()}
    raise FormatError("a comprehension can only set names")


def _formatted(text: str, values: Any) -> str:
    """`text % values`, with numbers and texts alone, and places of less than a hundred characters."""
    if "%" in PLACE.sub("", text):
        raise ValueError("a % in a text must be one of %d, %f, %g, %e, %x, %s or %%, with up to two digits of width")
    if not all(isinstance(each, (int, float, str)) for each in (values if isinstance(values, tuple) else (values,))):
        raise TypeError("only numbers and texts can be put into a text by %")
    return text % values


def _replaced(text: str, old: str, new: str) -> str:
    if len(text) * max(len(new), 1) > LARGEST:
        raise ValueError("too long a text")
    return text.replace(old, new)


def _checked(value: Any) -> Any:
    """Return a value whose total size is not too large."""
    _size(value)
    return value


def _size(value: Any) -> int:
    """Return a value's total size; raise ValueError where it is too large.

    A list that occurs many times in another counts as often as it would be written out.
    """
    size, waiting = 0, [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, int) and each.bit_length() > LARGEST:
            raise ValueError("a number of too many digits")
        size += 1 + (len(each) if isinstance(each, str) else each.bit_length() // 64 if isinstance(each, int) else 0)
        if isinstance(each, (list, tuple, dict, set)):
            waiting += [*each, *each.values()] if isinstance(each, dict) else each
        if size + len(waiting) > LARGEST + 1:
            raise ValueError(f"more than {LARGEST} elements")
    return size
