"""Links in the documentation lead somewhere, and its site has every page and every public name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml

import robik

CHECKOUT = Path(__file__).parents[1]
PAGES = sorted([*CHECKOUT.glob("*.md"), *(CHECKOUT / "docs").glob("*.md")])
FENCED = re.compile(r"(?ms)^(```|~~~).*?^\1")
LINK = re.compile(r"\]\(\s*<?([^)>\s]+)>?[^)]*\)")


def prose(page: Path) -> str:
    """Return a page without its blocks of code and its code in the line."""
    return re.sub(
        r"`[^`\n]*`", lambda code: code[0].replace("]", " "), FENCED.sub("", page.read_text(encoding="utf-8"))
    )


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    found: set[str] = set()
    for heading in re.findall(r"(?m)^#+\s+(.*?)\s*#*$", FENCED.sub("", page.read_text(encoding="utf-8"))):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        name, count = slug, 0
        while name in found:
            count += 1
            name = f"{slug}-{count}"
        found.add(name)
    return found


def broken(page: Path) -> Iterator[str]:
    """Yield the relative links of a page that lead nowhere."""
    for link in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = unquote(link).partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_lead_somewhere(page: Path) -> None:
    assert list(broken(page)) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("# A heading, with a comma\n")
    page = tmp_path / "a.md"
    page.write_text(
        "[1](b.md) [2](b.md#a-heading-with-a-comma) [3](c.md) [4](b.md#none) [5](#none) [6](https://example.org/c.md)"
    )
    assert list(broken(page)) == ["c.md", "b.md#none", "#none"]


def test_the_site_has_every_page() -> None:
    text = (CHECKOUT / "mkdocs.yml").read_text(encoding="utf-8")
    named = re.findall(r"(?m)^\s+- [^:]+: (\S+\.md)$", text)
    assert sorted(named) == sorted(page.name for page in (CHECKOUT / "docs").glob("*.md"))
    assert yaml.safe_load(text)["strict"] is True


def test_the_reference_has_every_public_name() -> None:
    text = (CHECKOUT / "docs" / "api.md").read_text(encoding="utf-8")
    named = re.findall(r"(?m)^::: (\S+)$", text)
    documented = {name for name in robik.__all__ if name != "WORLD"}  # a plain string, in the text of `Joint`
    assert {path.rpartition(".")[2] for path in named} == documented
    assert len(named) == len(documented)
    for path in named:
        module, _, name = path.rpartition(".")
        assert getattr(robik, name).__module__ == module


@pytest.mark.parametrize("page", sorted((CHECKOUT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_a_page_begins_with_a_sentence_and_an_example(page: Path) -> None:
    title, _, first, *rest = page.read_text(encoding="utf-8").splitlines()[:25]
    assert title.startswith("# ")
    assert re.match(r"[A-Z`*]", first), "a sentence that says what the page is for"
    example = r"^(    \S|```|!\[)|[Ff]or example|A whole session"
    assert any(re.search(example, line) for line in (first, *rest)), "an example"
