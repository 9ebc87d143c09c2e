"""Mutated robot files: whatever happens to a file, its import ends in a robot or in one sentence, and nothing else.

`ROBIK_FUZZ=10000 pytest tests/formats -k mutated` tries that many files per format instead of 150.
"""

from __future__ import annotations

import os
import random
import re
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from robik.errors import RobikError
from robik.formats import import_robot
from robik.mechanism import Mechanism

CASES = int(os.environ.get("ROBIK_FUZZ", "150"))
WORDS = [
    "",
    "nan",
    "inf",
    "-inf",
    "-1",
    "1e308",
    "1e-320",
    "0",
    "zz",
    "a",
    "world",
    "base",
    "1 2",
    "1 2 3",
    "(1, 2, 3)",
    "é",
    "../a",
    "/",
]
QUOTED, NUMBER = re.compile(r'"[^"\n]*"'), re.compile(r"-?\d[\d.e+-]*")


def import_mutants(
    path: Path, samples: Sequence[str], seed: int, cases: int, words: Sequence[str] = ()
) -> Counter[type]:
    """Writes mutants of the samples, one after the other, to a path, and imports each.

    Args:
        samples: texts to start from, taken in turn.
        seed: of the random numbers.
        words: what a value of this format may be replaced by, beside `WORDS`.

    Returns:
        How often each type of outcome occurred: `Mechanism`, or a child of `RobikError`.
    """
    rng = random.Random(seed)
    outcomes: Counter[type] = Counter()
    for case in range(cases):
        text = samples[case % len(samples)]
        for _ in range(rng.randint(1, 3)):
            text = mutant(text, rng, (*WORDS, *words))
        path.write_text(text, encoding="utf-8")
        outcome = outcome_of(path)
        assert "\n" not in str(outcome), f"seed {seed}, case {case}: {outcome}"
        if isinstance(outcome, Mechanism):
            assert len(outcome.joints) >= len(outcome.bodies) - 1  # all hang together
        outcomes[type(outcome)] += 1
    return outcomes


def mutant(text: str, rng: random.Random, words: Sequence[str]) -> str:
    """A text with a character changed, a piece cut out or doubled, or a value replaced."""
    if not text:
        return rng.choice(words)
    at = rng.randrange(len(text))
    match rng.randrange(12):
        case 0:
            return text[:at] + rng.choice('<>"/ x0-&[](){}@#\n') + text[at + 1 :]
        case 1:
            return text[:at] + text[at + rng.randint(1, 40) :]
        case 2:
            return text[:at] + text[max(at - rng.randint(1, 200), 0) : at] + text[at:]
        case _:
            kind = rng.choice((QUOTED, NUMBER))
            value = kind.search(text, at) or kind.search(text)
            quote = '"' if kind is QUOTED else ""
            word = rng.choice(words) if rng.random() < 0.5 else f"{rng.uniform(-3, 3):.3g}"
            return text[: value.start()] + quote + word + quote + text[value.end() :] if value else text


def outcome_of(path: Path) -> Mechanism | RobikError:
    """What an import ends in; Python's warnings count as errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return import_robot(path).mechanism
        except RobikError as error:
            return error
