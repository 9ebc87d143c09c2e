"""Numbers on the command line: each is checked as it is read, before anything is opened or solved."""

from __future__ import annotations

import argparse
from collections.abc import Callable

MOST_ID = 252  # of a servo


def number(what: str, most: float, least: float | None = None) -> Callable[[str], float]:
    """Return what makes a number of a word."""
    bounds = f"a positive number, at most {most:g}" if least is None else f"a number from {least:g} to {most:g}"

    def read(word: str) -> float:
        try:
            value = float(word)
        except ValueError:
            value = float("nan")
        if not (0 < value <= most if least is None else least <= value <= most):
            raise argparse.ArgumentTypeError(f"{what} must be {bounds}, not {word}")
        return value

    return read


def whole(what: str, least: int, most: int) -> Callable[[str], int]:
    """Return what makes a whole number of a word."""

    def read(word: str) -> int:
        try:
            value = int(word)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{what} must be a whole number from {least} to {most}, not {word}")
        return value

    return read


RATE = number("samples per second", 1e4)
FPS = number("samples per second", 1e5)
GOALS = number("goals per second", 1e4)
HERTZ = number("a frequency in Hz", 1e4)
SECOND = number("a time in seconds", 1e9, -1e9)
LIMIT = number("a limit", 1e12)
LIMIT_OR_NONE = number("a limit (0: as the motors')", 1e12, 0.0)
WEIGHT = number("a weight", 1e9, 0.0)
TIMES = number("a speed, in that of the motion,", 1e3)
SHARE = number("a share", 1.0)
APPROACH = number("a speed in rad/s", 1e3)
GAIN = number("a gain", 1e6)
FRAME = whole("a frame", 0, 10**9)
ID = whole("a servo's id", 0, MOST_ID)
