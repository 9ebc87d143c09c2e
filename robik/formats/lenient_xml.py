"""Text of files that are nearly XML, made XML where the readers of robot formats forgive it.

Forgiven are text before the first tag or the declaration, zeros behind the last tag, `--` in comments, and prefixes of
names that nothing declares (`drake:`, `gz:`). Nothing else changes, so that what a strict parser refuses for safety, a
DOCTYPE above all, is still there for it to refuse.
"""

from __future__ import annotations

import re

MOST_PREFIXES = 100
TRAILING = b"\0 \t\r\n"  # a text that was written with the zero at its end
KNOWN = {b"xml", b"xmlns"}
SPACES = {b"xacro": b"http://www.ros.org/wiki/xacro"}
SECTIONS = {b"<!--": b"-->", b"<![CDATA[": b"]]>"}  # start → end
START = re.compile(rb"<!--|<!\[CDATA\[")
ROOT = re.compile(rb"<[A-Za-z_][\w.:-]*")
PREFIX = re.compile(rb"</?([A-Za-z_][\w.-]*):[A-Za-z_]|\s([A-Za-z_][\w.-]*):[\w.-]+\s*=")


def lenient(content: bytes) -> bytes:
    """Return a file's content with forgivable mistakes mended; lines keep their numbers.

    Its encoding must have ASCII's signs for markup; other content stays as it is.
    """
    return _with_prefixes(_from_declaration(_without_comments(content.rstrip(TRAILING))))


def _without_comments(content: bytes) -> bytes:
    """Return the content with nothing but line breaks in its comments."""
    pieces, at = [], 0
    while found := START.search(content, at):
        close = SECTIONS[found[0]]
        end = content.find(close, found.end())
        if end < 0:
            break
        inner = content[found.end() : end]
        pieces += [content[at : found.end()], b"\n" * inner.count(b"\n") if found[0] == b"<!--" else inner, close]
        at = end + len(close)
    return b"".join([*pieces, content[at:]])


def _from_declaration(content: bytes) -> bytes:
    """Return the content with its declaration first, without the text before the first tag."""
    start = content.find(b"<?xml ")
    end = content.find(b"?>", start) + 2 if start >= 0 else 0
    declaration = content[start:end] if end > 2 else b""
    before, after = (content[:start], content[end:]) if declaration else (b"", content)
    whole = before + after
    first = max(whole.find(b"<"), 0)
    return declaration + b"\n" * whole.count(b"\n", 0, first) + whole[first:]


def _with_prefixes(content: bytes) -> bytes:
    """Return the content with all prefixes that its root does not declare declared there."""
    root = ROOT.search(content)
    if root is None:
        return content
    start = content[root.start() : content.find(b">", root.start()) + 1]
    used = {first or second for first, second in PREFIX.findall(content)} - KNOWN
    missing = sorted(prefix for prefix in used if b"xmlns:" + prefix not in start)[:MOST_PREFIXES]
    declared = b"".join(b' xmlns:%s="%s"' % (prefix, SPACES.get(prefix, b"undeclared:" + prefix)) for prefix in missing)
    return content[: root.end()] + declared + content[root.end() :]
