"""`robik bench`: the paper's experiments on this machine, now, on one core.

Clips are made (`clips`, `walking`), put together with robots and weights (`cases`), measured and printed (`measure`).
"""

from robik.bench.cases import Case, cases
from robik.bench.clips import boxer_clip, chain_clip, dance_clip, singular_clip, validation_clip
from robik.bench.measure import print_table, run
from robik.bench.walking import walk_clip, walker_clip

__all__ = [
    "Case",
    "boxer_clip",
    "cases",
    "chain_clip",
    "dance_clip",
    "print_table",
    "run",
    "singular_clip",
    "validation_clip",
    "walk_clip",
    "walker_clip",
]
