"""Words of docs/glossary.md: those that it replaces, and archaic ones, are in neither code nor docs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
FOLDERS = ("robik", "scene", "operators", "panels", "translations", "experiments", "tools", "demo", "examples")
ARCHAIC = r"anew|lest|be it|thrice|whilst|amongst|whence|thence|thither|hitherto|wherein|therein|notwithstanding|puppet"
REPLACED = r"pull_back|guarantee[sd]?|list_leaders|Wanted|gear_leader|gear_follower|new_goals"
BANNED = re.compile(rf"\b({ARCHAIC}|{REPLACED})\b")
# Old names: in files that users have saved, and where they are told what has changed.
ALLOWED = {("scene/migration.py", "guarantee"), ("docs/history.md", "guarantee")}


def texts() -> Iterator[tuple[str, str]]:
    """Yield the path and the content of each source and page."""
    pages = [*CHECKOUT.glob("*.md"), *(CHECKOUT / "docs").glob("*.md")]
    files = [file for folder in FOLDERS for file in (CHECKOUT / folder).rglob("*.py")]
    for file in sorted([CHECKOUT / "__init__.py", *files, *pages]):
        if file.name != "glossary.md":  # it names what it replaces
            yield file.relative_to(CHECKOUT).as_posix(), file.read_text(encoding="utf-8")


def banned(text: str) -> list[str]:
    """Return the words of a text that are banned."""
    return [found[0] for found in BANNED.finditer(text)]


def test_no_word_is_used_that_the_glossary_replaces() -> None:
    found = {(path, word) for path, text in texts() for word in banned(text)}
    assert found - ALLOWED == set()
    assert found >= ALLOWED, "an exception that is none any more"


@pytest.mark.parametrize("text", ["drawn anew", "def pull_back(flat):", "lest it falls", "class Wanted:"])
def test_a_banned_word_is_found(text: str) -> None:
    assert banned(text)


@pytest.mark.parametrize("text", ["at least", "renewed", "a leader", "the follower"])
def test_other_words_are_not(text: str) -> None:
    assert banned(text) == []


def test_the_glossary_names_code_that_is_there() -> None:
    page = (CHECKOUT / "docs" / "glossary.md").read_text(encoding="utf-8")
    files = re.findall(r"`((?:robik|scene)/[\w/.]+)`", page)
    assert len(files) > 20
    assert [file for file in files if not (CHECKOUT / file).exists()] == []
    source = "\n".join(text for path, text in texts() if path.endswith(".py"))
    names = re.findall(r"`([A-Z]\w+(?:\.\w+)?|[a-z]\w+(?:_\w+)+)`", page)
    assert len(names) > 60
    words = set(re.findall(r"\w+", source))
    assert [name for name in names if not set(name.split(".")) <= words] == []
