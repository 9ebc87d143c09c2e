"""XML files that may come from anywhere.

Read whole or refused in one sentence, with no entities and nothing fetched.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite, isnan, nan
from pathlib import Path
from xml.etree.ElementTree import Element
from xml.sax.saxutils import quoteattr

from ..errors import FormatError
from ..files import read_whole
from .lenient_xml import lenient

MOST = 50_000_000  # bytes
LFS_POINTER = b"version https://git-lfs"
SHOWN = 60  # characters of a wrong value in a message


class _Strict(ElementTree.TreeBuilder):
    """Builds no tree from a file that declares entities."""

    def doctype(self, _name: str, _public: str | None, _system: str | None) -> None:
        raise FormatError("it has a DOCTYPE, which no robot needs and which can hide entities; delete that line")


def read_xml(path: Path) -> Element:
    """Return the root element of an XML file.

    Read it strictly or, where that fails, as leniently as the formats' own readers do. A FormatError leaves the
    file's name to the caller.
    """
    content = read_whole(path, MOST)
    try:
        root = _parsed(content)
    except ElementTree.ParseError:
        try:
            root = _parsed(lenient(content))
        except ElementTree.ParseError as error:
            raise FormatError(f"not XML: {error}{_cause(content)}") from None
    space = root.tag[: root.tag.rfind("}") + 1]
    if space:  # the default namespace of a schema, which says nothing
        for element in root.iter():
            element.tag = element.tag.removeprefix(space)
    return root


def check_xml(path: Path) -> None:
    """Check that a file is XML by the letter, without entities, before another library reads it.

    A FormatError leaves the file's name to the caller.
    """
    content = read_whole(path, MOST)
    try:
        _parsed(content)
    except ElementTree.ParseError as error:
        raise FormatError(f"not XML: {error}{_cause(content)}") from None


def _parsed(content: bytes) -> Element:
    parser = ElementTree.XMLParser(target=_Strict())
    try:
        parser.feed(content)
        root: Element = parser.close()
    except ElementTree.ParseError:
        raise
    except (LookupError, ValueError) as error:  # an encoding that Python does not know, or that is none of text
        raise FormatError(f"not XML that can be read: {error}") from None
    return root


def _cause(content: bytes) -> str:
    """Return what may be the cause where a file is not XML."""
    if content.startswith(LFS_POINTER):
        return "; it only stands for a file that Git LFS keeps apart, so fetch that by `git lfs pull`"
    try:
        content.decode()
    except UnicodeDecodeError:
        return "; its text is not UTF-8, which it must be where its first line names no other encoding"
    return ""


def name_of(element: Element) -> str:
    """Return an element's name; raise FormatError if it has none."""
    name = element.get("name")
    if not name:
        raise FormatError(f"a <{element.tag}> has no name")
    return name


def numbers(text: str | None, count: int, where: str) -> tuple[float, ...]:
    """Return the `count` finite numbers in a text; raise FormatError if there are others, with `where` in words."""
    try:
        values = tuple(map(float, (text or "").split()))
    except ValueError:
        values = ()
    if len(values) != count or not all(map(isfinite, values)):
        raise FormatError(f"{where} must have {count} finite numbers, not {(text or '')[:SHOWN]!r}")
    return values


def number(
    element: Element | None, key: str, where: str, default: float | None = None, infinite: bool = False
) -> float:
    """Return an attribute that is a number; it must be there if `default` is None.

    `infinite` allows ±inf. A FormatError names the element by `where`.
    """
    return _number(None if element is None else element.get(key), f"{where}: {key}", default, infinite)


def number_within(
    element: Element | None, tag: str, where: str, default: float | None = None, infinite: bool = False
) -> float:
    """Return the content of a child, which is a number; it must be there if `default` is None.

    `infinite` allows ±inf. A FormatError names the element by `where`.
    """
    text = None if element is None else element.findtext(tag)
    return _number(None if text is None else text.strip() or None, f"{where}: its {tag}", default, infinite)


def _number(text: str | None, where: str, default: float | None, infinite: bool) -> float:
    if text is None and default is not None:
        return default
    try:
        value = float(text or "")
    except ValueError:
        value = nan
    if isnan(value) or not (infinite or isfinite(value)):
        raise FormatError(f"{where} must be a {'' if infinite else 'finite '}number, not {(text or '')[:SHOWN]!r}")
    return value


class XmlText:
    """An XML file as it is written: indented, one element a line."""

    def __init__(self) -> None:
        self._lines = ['<?xml version="1.0" encoding="utf-8"?>']
        self._open: list[str] = []

    def put(self, tag: str, **attributes: object) -> None:
        """Put an element without content.

        Attributes that are None are left out, and tuples and arrays written as numbers.
        """
        self._lines.append(f"{self._start(tag, attributes)}/>")

    @contextmanager
    def within(self, tag: str, **attributes: object) -> Iterator[None]:
        """Put an element around what is written in this context, with attributes as for `put`."""
        self.open(tag, **attributes)
        yield
        self.close()

    def open(self, tag: str, **attributes: object) -> None:
        """Begin an element, with attributes as for `put`."""
        self._lines.append(f"{self._start(tag, attributes)}>")
        self._open.append(tag)

    def close(self) -> None:
        """End the innermost element that is open."""
        tag = self._open.pop()
        self._lines.append(f"{'  ' * len(self._open)}</{tag}>")

    @property
    def text(self) -> str:
        """The file."""
        return "\n".join(self._lines) + "\n"

    def _start(self, tag: str, attributes: dict[str, object]) -> str:
        words = [
            f"{key.rstrip('_')}={quoteattr(_shown(value))}" for key, value in attributes.items() if value is not None
        ]
        line = " ".join([f"<{tag}", *words])
        if unfit := re.search("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", line):
            raise FormatError(f"XML cannot hold the character {unfit[0]!r}, which is in a name; rename that")
        return "  " * len(self._open) + line


def _shown(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        return repr(float(value)) if isinstance(value, float) else str(value)
    return " ".join(repr(float(v)) for v in value)  # type: ignore[attr-defined]
