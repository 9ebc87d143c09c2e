"""The kinds of objectives that a clip asks for by keys of their own, and the sums over all of them.

This is the one place that lists them. One more is a file beside this one and an entry of `ASKED`: the record of all
tables and the kernels that sum over these are written from the list.
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable
from typing import Any

from ..jit import compiled_for_record
from .above import Above
from .clearance import Clearance
from .distance import Distance
from .look_at import LookAt
from .objective import Objective
from .posture import Posture
from .relative_frame import RelativeFrame

ASKED: tuple[type[Objective], ...] = (LookAt, RelativeFrame, Distance, Posture, Clearance, Above)
_ORDER: tuple[type[Objective], ...] = (RelativeFrame, LookAt, *ASKED[2:])  # of the sums, whose last bits depend on it

# The compiled tables of all kinds. A checker of types wants their names spelled out.
Asked: Any = namedtuple("Asked", [kind.NAME for kind in _ORDER])  # type: ignore[misc]


class SomeAsked(Asked):
    """Objectives of a clip that asks for some of these.

    A kind of its own, so that most clips need not wait for them to be compiled.
    """


def _written(kernel: str, text: str) -> Callable:
    """Return the function of a text whose line with KIND stands once for each kind that has this kernel.

    The compiler knows no loop over functions, nor over tables of several types.
    """
    kernels = {kind.NAME: getattr(kind.KERNELS, kernel) for kind in _ORDER}
    names: dict[str, Any] = {name: function for name, function in kernels.items() if function}
    whole = re.sub(r".*KIND.*\n", lambda line: "".join(re.sub("KIND", name, line[0]) for name in names), text)
    names["__name__"] = __name__
    exec(compile(whole, __file__, "exec"), names)
    return names[text.split()[1].partition("(")[0]]


def _sum_of(kernel: str, text: str, otherwise: float | None = None) -> Callable:
    """Return a written function that is compiled where a clip asks for some objectives."""
    return compiled_for_record(SomeAsked, otherwise=otherwise)(_written(kernel, text))


asked_value = _sum_of("value", otherwise=0.0, text="""
def asked_value(flat, now, asked):
    total = 0.0
    total = KIND(flat, now, asked.KIND, total)
    return total
""")  # fmt: skip
add_asked_terms = _sum_of("terms", """
def add_asked_terms(flat, now, terms, share, asked):
    KIND(flat, now, asked.KIND, terms, share)
""")  # fmt: skip
add_asked_rows = _sum_of("rows", """
def add_asked_rows(flat, now, terms, asked):
    KIND(flat, now, asked.KIND, terms)
""")  # fmt: skip
add_asked_answer = _sum_of("answer", """
def add_asked_answer(xi, out, asked):
    KIND(asked.KIND, xi, out)
""")  # fmt: skip
