"""Blocks of frames, so that what is computed on the way needs memory for a block and not for the clip."""

from __future__ import annotations

from collections.abc import Iterator

BLOCK = 4096  # frames: a matrix for each stays in the processor's cache


def blocks(frames: int) -> Iterator[slice]:
    """Yield slices of at most `BLOCK` frames that cover all frames."""
    for start in range(0, frames, BLOCK):
        yield slice(start, min(start + BLOCK, frames))
