"""Mutants of motions, clips, recordings, settings and servo files: each is read, or refused in one sentence."""

from __future__ import annotations

import io
import random
import sys
import tracemalloc
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from robik.errors import RobikError
from tests.formats.fuzz import WORDS, mutant

HUGE = "1" + "0" * 400  # an integer beyond all floats
MORE_WORDS = (
    *WORDS,
    HUGE,
    f"-{HUGE}.5",
    "1e400",
    "1e18",
    "[]",
    "{}",
    "null",
    "true",
    "[[[[[",
    "- - -",
    "*a",
    "&a",
    "'",
)
SPARE, RATIO = 200_000_000, 10  # bytes, and times the file's own, that reading may take at its peak


def check_readers(
    path: Path, sample: bytes, read: Callable[[Path], object], cases: int, seed: int = 1, *, with_memory: bool = True
) -> Counter[str]:
    """Reads mutants of a sample, one after the other.

    Args:
        path: of the file that is written.
        sample: to start from.
        read: reads the file.
        cases: how many.
        seed: of the random numbers.
        with_memory: whether what it takes is judged: not where reading solves, which may compile the solver.

    Returns:
        How often each outcome occurred: "read", or the name of an error that is none of RobIK's.
    """
    rng = random.Random(seed)
    outcomes: Counter[str] = Counter()
    tracemalloc.start()
    try:
        for _ in range(cases):
            content = mutated(sample, rng)
            path.write_bytes(content)
            outcomes[outcome_of(path, read, len(content) if with_memory else sys.maxsize)] += 1
    finally:
        tracemalloc.stop()
    return outcomes


def outcome_of(path: Path, read: Callable[[Path], object], size: int) -> str:
    """What reading ends in: "read", "refused", or in words what must not be."""
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        read(path)
        said = "read"
    except RobikError as error:
        said = "refused" if "\n" not in str(error) and len(str(error)) < 2000 else f"no sentence: {str(error)[:200]!r}"
    except Exception as error:  # that is what is looked for
        at = error.__traceback__
        while at is not None and at.tb_next is not None and "robik" in at.tb_next.tb_frame.f_code.co_filename:
            at = at.tb_next
        where = "" if at is None else f"{Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno}"
        return f"{type(error).__name__} at {where}: {str(error)[:90]}"
    peak = tracemalloc.get_traced_memory()[1] - before
    return said if peak <= SPARE + RATIO * size else f"{peak / 1e6:.0f} MB for a file of {size / 1e6:.2f} MB"


def mutated(sample: bytes, rng: random.Random) -> bytes:
    """A file that differs from the sample in one to three places."""
    for _ in range(rng.randint(1, 3)):
        if rng.random() < 0.15 or sample[:1] == b"\x80":
            sample = _bytes_changed(sample, rng)
        elif sample[:2] == b"PK":
            sample = _archive_changed(sample, rng)
        else:
            sample = mutant(sample.decode("utf-8", "surrogateescape"), rng, MORE_WORDS).encode("utf-8", "replace")
    return sample


def _bytes_changed(sample: bytes, rng: random.Random) -> bytes:
    at, length = rng.randrange(len(sample) or 1), rng.randint(1, 9)
    match rng.randrange(3):
        case 0:
            return sample[:at] + rng.randbytes(length) + sample[at + length :]
        case 1:
            return sample[:at]
        case _:
            return sample[:at] + bytes([rng.choice((0, 1, 127, 128, 255))]) + sample[at + 1 :]


def _archive_changed(sample: bytes, rng: random.Random) -> bytes:
    """An archive with an array that is another one, or whose own bytes are changed, with a right checksum."""
    try:
        with zipfile.ZipFile(io.BytesIO(sample)) as archive:
            files = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    except Exception:  # it has been changed before
        return _bytes_changed(sample, rng)
    if not files:
        return sample
    name = rng.choice(list(files))
    match rng.randrange(5):
        case 0:
            del files[name]
        case 1:
            files[rng.choice(list(files))] = files[name]
        case 2:
            head, _, rest = files[name].partition(b"\n")
            start = head[:10]
            text = mutant(
                head[10:].decode("latin1"), rng, ("(0,)", "()", "(1000000000000,)", "(1000000000000, 0)", "-1")
            )
            files[name] = start + text.encode("latin1", "replace") + b"\n" + rest
        case 3:
            files[name] = _bytes_changed(files[name], rng)
        case _:
            file = io.BytesIO()
            np.save(file, _other(files[name], rng), allow_pickle=True)
            files[name] = file.getvalue()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return file.getvalue()


def _other(content: bytes, rng: random.Random) -> np.ndarray:
    """An array that is like the one in a file, or not at all."""
    strange = (
        np.array(1.0), np.array("x"), np.array([]), np.zeros((0, 3)), np.zeros((3, 0)), np.array([None]),
        np.array(True),
        np.zeros(3, dtype="datetime64[s]"), np.zeros(3, dtype=complex), np.zeros(2, dtype=[("a", float), ("b", int)]),
        np.array(["a", "b"]), np.array([b"a", b"\xff"]), np.array([-1, 2**62]), np.array(2**64 - 1, dtype=np.uint64),
        np.zeros(5_000_000), np.array(5e-324), np.array(1e308), np.zeros((2, 2, 2, 2)),
        np.array([np.longdouble("1e4000")]) if np.finfo(np.longdouble).max > 1e308 else np.array(np.inf),
    )  # fmt: skip
    try:
        array = np.load(io.BytesIO(content))
    except Exception:  # it has been changed before
        return rng.choice(strange)
    if not array.size or rng.random() < 0.4:
        return rng.choice(strange)
    match rng.randrange(6):
        case 0:
            return array[:-1] if array.ndim else array
        case 1:
            return array.T
        case 2:
            return array[..., None]
        case 3:
            return array.astype(str)
        case 4:
            return np.concatenate([array, array]) if array.ndim else array
        case _:
            if array.dtype.kind not in "iuf":
                return np.resize(array, array.size + 1)
            changed = array.astype(float)
            value = rng.choice((np.nan, np.inf, -1e300, 1e300, 0.0, -1.0, 1e-300, 1e15))
            changed.ravel()[rng.randrange(changed.size)] = value
            return changed
