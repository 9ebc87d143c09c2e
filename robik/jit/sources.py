"""Digest of the sources of compiled code, by which what is kept on disk is good or not."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

LIBRARY = Path(__file__).parents[1]
COMPILED = LIBRARY / "jit" / "compiled"  # the code that came with the extension; tools/extension.py fills it
# Where in the library compiled code and its constants are.
FOLDERS = ("jit", "mechanism", "kinematics", "objectives", "ik", "tracking", "dynamics", "clip_solver")


@cache
def sources() -> str:
    """Return a digest of all sources that compiled code depends on; numba looks at a function's own file only."""
    found = hashlib.sha256()
    for folder in FOLDERS:
        for source in sorted((LIBRARY / folder).glob("*.py")):
            found.update(source.name.encode() + b"\0" + source.read_bytes())
    return found.hexdigest()
