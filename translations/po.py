"""Reader of gettext's text files (.po), as far as these have contexts and texts without plurals."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ANY = "*"  # Blender's name of the context where none is given
KEYWORDS = ("msgctxt", "msgid", "msgstr")


def read(file: Path) -> dict[tuple[str, str], str]:
    """Read a language."""
    found: dict[tuple[str, str], str] = {}
    for number, entry, is_fuzzy in _entries(file):
        key = entry.get("msgctxt", ANY), entry.get("msgid", "")
        if key in found:
            raise ValueError(f"{file.name}, line {number}: {key[1]!r} is there twice")
        if key[1] and entry.get("msgstr") and not is_fuzzy:
            found[key] = entry["msgstr"]
    return found


def _entries(file: Path) -> Iterator[tuple[int, dict[str, str], bool]]:
    """Yield the number of each entry's first line, its texts by keyword, and whether it is fuzzy."""
    entry: dict[str, str] = {}
    first, keyword, is_fuzzy = 1, "", False
    for number, line in enumerate([*file.read_text("utf-8").splitlines(), ""], 1):
        word, _, rest = line.strip().partition(" ")
        if not word:
            if entry:
                yield first, entry, is_fuzzy
            entry, keyword, is_fuzzy = {}, "", False
        elif word.startswith("#"):
            is_fuzzy |= word == "#," and "fuzzy" in rest
        elif word in KEYWORDS and word not in entry:
            first = first if entry else number
            keyword, entry[word] = word, _text(file, number, rest)
        elif word.startswith('"') and keyword:
            entry[keyword] += _text(file, number, line.strip())
        else:
            raise ValueError(f"{file.name}, line {number}: not a line of a .po file: {line}")


def _text(file: Path, number: int, quoted: str) -> str:
    """Return a text in double quotes, whose escapes are those of C and of Python."""
    try:
        text = ast.literal_eval(quoted)
    except (SyntaxError, ValueError):
        text = None
    if not isinstance(text, str) or not quoted.startswith('"'):
        raise ValueError(f"{file.name}, line {number}: a text in double quotes belongs here, not {quoted}")
    return text
