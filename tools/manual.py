"""The manual that the extension brings: the pages of `docs/` as HTML without pictures, and their tables of data."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

SITE_ONLY = ("index", "api")  # the site's front page, and the one that its generator fills in from the source
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ max-width: 50em; margin: 2em auto; padding: 0 1em; font: 1em/1.5 sans-serif; color-scheme: light dark }}
pre {{ overflow-x: auto }} td, th {{ padding: 0.2em 0.6em; text-align: left; vertical-align: top }}
</style>
<p><a href="panels.html">Panels</a> · <a href="tutorial.html">Tutorial</a> ·
<a href="troubleshooting.html">Troubleshooting</a></p>
{body}</html>
"""


def write_manual(docs: Path, folder: Path) -> None:
    """Write every page of a folder of Markdown as HTML, and copy its tables."""
    folder.mkdir(parents=True)
    for table in docs.glob("*.csv"):
        shutil.copy(table, folder)
    for source in pages(docs):
        (folder / f"{source.stem}.html").write_text(page(source.read_text(encoding="utf-8")), encoding="utf-8")


def pages(docs: Path) -> list[Path]:
    """Return the pages that the manual has."""
    return [page for page in sorted(docs.glob("*.md")) if page.stem not in SITE_ONLY]


def page(markdown: str) -> str:
    """Return a page as HTML.

    Headings can be linked to, links to other pages lead to their HTML, pictures are left out.
    """
    from markdown_it import MarkdownIt  # here: Blender's windows for the tests lack it, and build nothing
    from markdown_it.token import Token

    reader = MarkdownIt("commonmark").enable("table")
    tokens = reader.parse(markdown)
    title = ""
    for token, inner in zip(tokens, [*tokens[1:], Token("", "", 0)], strict=True):
        if token.type == "heading_open":
            token.attrSet("id", anchor(inner.content))
            title = title or inner.content
        if token.type == "inline":
            token.children = [child for child in token.children or [] if child.type != "image"]
            for child in token.children:
                if child.type == "link_open":
                    child.attrSet("href", re.sub(r"^([\w-]+)\.md(?=#|$)", r"\1.html", str(child.attrGet("href"))))
    return PAGE.format(title=title, body=reader.renderer.render(tokens, reader.options, {}))


def anchor(heading: str) -> str:
    """Return the name that links give a heading, as code hosts make it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
