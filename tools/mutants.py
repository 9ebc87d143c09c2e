"""Small faults put into the library one at a time, and whether its tests notice: mutation testing.

    python -m tools.mutants                                80 mutants of all rooms, seed 0
    python -m tools.mutants --room ik --count 20 --seed 3  of one room
    python -m tools.mutants --seconds 120                  as many as there is time for
    python -m tools.mutants --of robik/ik/sqp.py:search    of one function
    python -m tools.mutants --tests tests/ik/test_balls.py noticed by these tests alone

A mutant is a copy of a module in which one operator, comparison or constant is another, a sign is turned or a `not` is
dropped. It is killed if a test that imports the module, or one of its room (`tools/mutants.toml`), fails or does not
end. Which test that was is told, since one in real time may fail for another reason. Mutants that compute the same are
listed there with the reason, and do not count. The checkout is copied to .cache/mutants; nothing in it changes.

Where --seconds are given, several are to be tried in them: no mutant gets more than half of them, and none is drawn for
which kernels must be compiled. One that no test has noticed by then is undecided, and does not count either.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.mutation import Mutation, Site, mutated, names
from tools.nearness import by_nearness
from tools.stale import LISTED, PRISTINE, compiles, pristine, stale

CHECKOUT = Path(__file__).resolve().parents[1]
COPY = CHECKOUT / ".cache" / "mutants" / "checkout"
COPIED = ("robik", "tests", "tools", "experiments", "examples", "docs", "requirements", "pyproject.toml", "README.md")
TABLE = Path(__file__).with_suffix(".toml")
ENOUGH = 0.85  # share of the mutants that must be killed
FEW = 20  # mutants, of which no share is asked for
SHARE = 0.5  # of the time in all, which one mutant may take


@dataclass(frozen=True, kw_only=True)
class Room:
    """Part of the library that is mutated.

    Attributes:
        name: its name.
        sources: glob patterns of its modules.
        tests: what must notice a fault there, the quickest first.
        seconds: without the end of a test, after which its tests count as not ending.
    """

    name: str
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    seconds: float = 300.0

    def sites(self, of: str = "") -> Iterator[Site]:
        """Yield the places of all faults that its modules can get, of those whose names begin with `of`.

        A name begins with the module's file.
        """
        for pattern in self.sources:
            for path in sorted(CHECKOUT.glob(pattern)):
                file = path.relative_to(CHECKOUT).as_posix()
                if f"{file}:".startswith(of) or of.startswith(f"{file}:"):
                    yield from (site for site, name in names(CHECKOUT, file).items() if name.startswith(of))


def main() -> None:
    """Test a sample of mutants, print each, and fail where too few are killed."""
    arguments = _arguments()
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    equivalent = {one["mutant"] for one in table["equivalent"]}
    rooms = [Room(**(room | {key: tuple(room[key]) for key in ("sources", "tests")})) for room in table["room"]]
    found = [(room, one) for room in rooms if arguments.room in ("", room.name) for one in room.sites(arguments.of)]
    if is_quick := arguments.seconds < float("inf"):
        found = [(room, one) for room, one in found if not compiles(CHECKOUT / "robik", one.file)]
    sample = random.Random(arguments.seed).sample(found, min(arguments.count, len(found)))
    end, verdicts, survivors = time.monotonic() + arguments.seconds, Counter[str](), []
    _copy_checkout()
    for room, site in sample:
        if (left := end - time.monotonic()) <= 0:
            break
        mutation = mutated(CHECKOUT, site)
        if mutation.name in equivalent:
            print(f"equivalent  {mutation.name}", flush=True)
            continue
        tests = arguments.tests or by_nearness(CHECKOUT, room.tests, mutation.file)
        verdict, by = _tested(tests, room.seconds, min(left, SHARE * arguments.seconds), mutation)
        verdicts[verdict] += 1
        if verdict == "survived":
            survivors.append(mutation)
        print(f"{verdict:11} {mutation.name}{by}", flush=True)
    killed = verdicts["killed"] + verdicts["timeout"]
    tried, undecided = killed + len(survivors), verdicts["undecided"]
    print(f"\n{killed} of {tried} mutants killed, of {len(found)} that there are; seed {arguments.seed}")
    if is_quick:
        print(f"{undecided} undecided for lack of time; none was drawn that makes compiled code stale")
    if tried >= FEW and killed < ENOUGH * tried:
        sys.exit(f"That is less than {ENOUGH:.0%}. Survived:\n" + "\n".join(one.name for one in survivors))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--room", default="", help="one room of tools/mutants.toml")
    parser.add_argument("--of", default="", help="beginning of the names of mutants")
    parser.add_argument("--tests", nargs="+", help="files of tests instead of those of tools/mutants.toml")
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for all; at most half for one")
    return parser.parse_args()


def _copy_checkout() -> None:
    """Copy what tests need; compiled code of the unchanged sources lies beside it."""
    shutil.rmtree(COPY, ignore_errors=True)
    for name in COPIED:
        source, place = CHECKOUT / name, COPY / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, place, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, place)
    shared = COPY.parent / "shared"
    if not shared.exists() and (CHECKOUT.parent / "shared").exists():
        shared.symlink_to(CHECKOUT.parent / "shared")


def _tested(tests: Sequence[str], patience: float, seconds: float, mutation: Mutation) -> tuple[str, str]:
    """Return `killed`, `timeout`, `survived`, or `undecided` where the seconds were too few; by which test."""
    file = COPY / mutation.file
    whole = file.read_text(encoding="utf-8")
    _restore_compiled()
    file.write_text(mutation.source, encoding="utf-8")
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "tools.stale"]
    command = [sys.executable, "-m", "pytest", *options, *tests]
    listed = os.pathsep.join(stale(CHECKOUT / "robik", mutation.file))
    environment = os.environ | {LISTED: listed, PRISTINE: pristine(CHECKOUT / "robik")}
    environment["PYTHONPATH"] = str(COPY)  # for what tests start
    try:
        code, said, ended = _run(command, environment, patience, seconds)
    finally:
        file.write_text(whole, encoding="utf-8")
    if code is None:
        return ended, ""
    broken = "ImportError while loading conftest" in said  # what tests share breaks with the fault
    if code in (3, 4, 5) and not broken:  # pytest's own; 1 and 2 are failures, a crash is below 0
        sys.exit(f"The tests could not be run:\n{said[-6000:]}")
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", said, re.MULTILINE)
    if code == 2 and failed and (problem := _uncollectable(failed[1])):
        sys.exit(f"This test could not be run without the fault either:\n{problem[-6000:]}")
    return ("survived" if code == 0 else "killed"), f"  by {failed[1]}" if failed else ""


def _uncollectable(test: str) -> str:
    """Return why the copy's tests in a file cannot be collected, for instance without a page that was not copied.

    They would seem to notice every fault.
    """
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", test]
    done = subprocess.run(command, cwd=COPY, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode else ""


def _run(
    command: Sequence[str], environment: dict[str, str], patience: float, seconds: float
) -> tuple[int | None, str, str]:
    """Run tests. Return their exit code and what they said; without a code, why they were stopped.

    `timeout`: for some seconds none of them has ended. `undecided`: the seconds in all are over, which counts for
    nothing, because other work may keep the machine busy.
    """
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, cwd=COPY, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        size, since, end = 0, time.monotonic(), time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < min(since + patience, end):
            time.sleep(0.1)
            if (now := os.fstat(output.fileno()).st_size) != size:  # a test has ended, and pytest has told it
                size, since = now, time.monotonic()
        code = process.poll()
        if code is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        ended = "undecided" if time.monotonic() >= end else "timeout"
        return code, output.read().decode(errors="replace"), ended


def _restore_compiled() -> None:
    """Give the copy the compiled code of the unchanged sources, as the tests of the checkout have kept it."""
    kept, place = CHECKOUT / ".cache" / "numba", COPY / ".cache" / "numba"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for room in kept.glob(f"py*-{pristine(CHECKOUT / 'robik')[:16]}"):
        shutil.copytree(room, place / room.name)


if __name__ == "__main__":
    main()
