"""Survey of the robot files in folders.

What is imported, what is refused and why, and what other programs say of the same files.

    python -m tools.survey FOLDER … [--json FILE] [--seconds 60] [--share 1/4] [--all]

Each file is read in a process of its own making, so that one that crashes or hangs a reader costs only itself. MuJoCo
and pinocchio judge the files of formats that they read, where they are installed. Without folders, the wheels of
`PACKAGES` are downloaded (140 MB) and read.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import subprocess
import sys
import time
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path

from robik.errors import RobikError
from robik.formats import import_robot
from robik.kinematics.mobility import inspect

PACKAGES = {"newton": "1.8.0", "example-robot-data": "6.0.0"}
CACHE = Path(__file__).resolve().parents[1] / ".cache" / "survey"
XML = (".xml", ".mjcf")
MANY_KINDS = (*XML, ".sdf")  # whose root says whether they are robots; the parts of SDF's own specification are not
KINDS = (".usd", ".usda", ".usdc", ".usdz", ".urdf", ".sdf", ".xacro", *XML, ".robik.json")
JUDGES = {"mujoco": (".urdf", *XML), "pinocchio": (".urdf", *XML)}
ROOT = re.compile(rb"<(mujoco|robot|sdf)[\s>]")
COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
SAME_MASS = 1e-3  # of the mass: a judge's that differs by more is told
SHOWN = 3  # files of each cause, unless all are asked for


@dataclass(frozen=True)
class Verdict:
    """Another program's verdict on a file.

    Whether it takes it, the mass of all that it read [kg] (0 if it drops some), or why not.
    """

    takes: bool
    mass: float = 0.0
    said: str = ""


@dataclass(frozen=True)
class Outcome:
    """Outcome of one file.

    Attributes:
        file: its path.
        imported: whether it was.
        said: the reason of a refusal, or the warnings.
        seconds: of the import.
        mass: [kg].
        judges: the verdict of each other program that reads such files.
    """

    file: str
    imported: bool
    said: tuple[str, ...] = ()
    seconds: float = 0.0
    bodies: int = 0
    loops: int = 0
    mobility: int = 0
    motors: int = 0
    mass: float = 0.0
    judges: dict[str, Verdict] = field(default_factory=dict)


# Files


def downloaded() -> list[Path]:
    """Return the folders of the packages' content."""
    folders = []
    for name, version in PACKAGES.items():
        folder = CACHE / f"{name}-{version}"
        if not folder.is_dir():
            wheels = CACHE / "wheels"
            pip = [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--dest",
                str(wheels),
                f"{name}=={version}",
            ]
            subprocess.run(pip, check=True)
            wheel = next(wheels.glob(f"{name.replace('-', '_')}-{version}-*.whl"))
            unfinished = CACHE / f"{name}.part"
            with zipfile.ZipFile(wheel) as content:
                content.extractall(unfinished)
            unfinished.rename(folder)
        folders.append(folder)
    return folders


def is_candidate(path: Path) -> bool:
    """Return whether a file's name, and for XML its root, say that it may be a robot."""
    if not path.name.lower().endswith(KINDS) or not path.is_file():
        return False
    if path.suffix.lower() not in MANY_KINDS:
        return True
    root = re.search(rb"<[A-Za-z_][\w:.-]*[\s>/]", COMMENT.sub(b"", path.read_bytes()[:100_000]))
    return bool(root and ROOT.match(root[0]))


def packages_around(top: Path) -> list[Path]:
    """Return the folders with a `package.xml` below a folder, and what holds them: what a user would name at import."""
    found = {p.parent for p in top.rglob("package.xml")}
    return sorted(found | {p.parent for p in found if p != top} | {top})


# One file, in the process that tries


def tried(path: Path, packages: list[Path]) -> Outcome:
    """Import one file."""
    start = time.perf_counter()
    try:
        imported = import_robot(path, packages)
        found = inspect(imported.mechanism)
    except RobikError as error:
        return Outcome(str(path), False, (str(error).removeprefix(f"{path}: "),), time.perf_counter() - start)
    except Exception as error:  # a defect, which the table shows as one
        return Outcome(str(path), False, (f"DEFECT: {type(error).__name__}: {error}",), time.perf_counter() - start)
    seconds = time.perf_counter() - start
    counts = found.bodies, found.loops, found.mobility, len(found.actuators), found.mass
    return Outcome(str(path), True, imported.warnings, seconds, *counts)


def judged(name: str, path: Path) -> Verdict:
    """Return what another program says of a file."""
    try:
        if name == "mujoco":
            import mujoco

            model = mujoco.MjModel.from_xml_path(str(path))
            is_whole = path.suffix.lower() in XML  # of a URDF's root link, MuJoCo makes the ground
            return Verdict(True, float(model.body_mass.sum()) if is_whole else 0.0)
        import pinocchio

        build = pinocchio.buildModelFromUrdf if path.suffix.lower() == ".urdf" else pinocchio.buildModelFromMJCF
        model = build(str(path))
        return Verdict(True, float(sum(inertia.mass for inertia in model.inertias)))
    except Exception as error:  # whatever a judge raises is its refusal
        return Verdict(False, said=" ".join(str(error).split()))


def work(requests: Connection) -> None:
    """Try files as they are sent, and send back what became of them."""
    while True:
        task, path, packages = requests.recv()
        requests.send(tried(path, packages) if task == "import" else judged(task, path))


class Worker:
    """A process that tries files, with a limit of time; a new one where the last one crashed or was stopped."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._process: multiprocessing.process.BaseProcess | None = None

    def ask(self, task: str, path: Path, packages: list[Path]) -> Outcome | Verdict | str:
        """Return what became of a file; a sentence where nothing came back."""
        if self._process is None:
            context = multiprocessing.get_context("spawn")
            self._ends, far = context.Pipe()
            self._process = context.Process(target=work, args=(far,), daemon=True)
            self._process.start()
            far.close()
        self._ends.send((task, path, packages))
        try:
            if self._ends.poll(self.seconds):
                return self._ends.recv()
            said = f"no answer within {self.seconds:g} s"
        except EOFError:
            said = "the process crashed"
        self.close()
        return f"DEFECT: {said}"

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


def surveyed(path: Path, packages: list[Path], worker: Worker, judges: Iterable[str]) -> Outcome:
    """Import a file, and ask those judges that read its format."""
    outcome = worker.ask("import", path, packages)
    if isinstance(outcome, str):
        outcome = Outcome(str(path), False, (outcome,), worker.seconds)
    assert isinstance(outcome, Outcome)
    for judge in judges:
        if path.suffix.lower() in JUDGES[judge]:
            verdict = worker.ask(judge, path, [])
            outcome.judges[judge] = Verdict(False, said=verdict) if isinstance(verdict, str) else verdict  # type: ignore[assignment]
    return outcome


# The table


def cause(sentence: str) -> str:
    """Return a sentence without what is of one file alone: names and numbers."""
    plain = re.sub(r"'[^']*'|\"[^\"]*\"", "…", sentence.splitlines()[0])
    return re.sub(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", "#", plain)[:150]


def table(outcomes: list[Outcome], everything: bool) -> list[str]:
    """Return the lines of the summary."""
    lines = []
    for kind in KINDS:
        count = Counter(o.imported for o in outcomes if o.file.lower().endswith(kind))
        if count:
            lines.append(f"{kind:11} {count[True]:5} imported, {count[False]:5} refused")
    lines += _by_cause("refused", ((o, o.said[0]) for o in outcomes if not o.imported), everything)
    lines += _by_cause("warned", ((o, s) for o in outcomes if o.imported for s in o.said), everything)
    for judge in sorted({name for o in outcomes for name in o.judges}):
        lines += _compared(judge, outcomes, everything)
    times = sorted(o.seconds for o in outcomes) or [0.0]
    slow = [o for o in outcomes if o.seconds > 5.0]
    lines += [
        "",
        (
            f"seconds of an import: median {times[len(times) // 2]:.2f}, most {times[-1]:.1f}; {len(slow)} took more"
            " than 5 s"
        ),
    ]
    return lines + [f"    {o.seconds:5.1f} s  {o.file}" for o in slow]


def _by_cause(title: str, said: Iterable[tuple[Outcome, str]], everything: bool) -> list[str]:
    causes: dict[str, list[tuple[Outcome, str]]] = defaultdict(list)
    for outcome, sentence in said:
        causes[cause(sentence)].append((outcome, sentence))
    lines = ["", f"{title}, by cause:"]
    for each in sorted(causes.values(), key=len, reverse=True):
        lines.append(f"{len(each):5}  {each[0][1][:400]}")
        lines += [f"           {outcome.file}" for outcome, _ in (each if everything else each[:SHOWN])]
    return lines


def _compared(judge: str, outcomes: list[Outcome], everything: bool) -> list[str]:
    """Return what a judge says otherwise."""
    both = [(o, o.judges[judge]) for o in outcomes if judge in o.judges]
    count = Counter((o.imported, v.takes) for o, v in both)
    heavier = [
        o for o, v in both if o.imported and v.takes and v.mass > 0 and abs(o.mass - v.mass) > SAME_MASS * v.mass
    ]
    lines = ["", f"{judge}: takes {count[True, True]} that are imported and {count[False, True]} that are refused "
                 f"here; "
             f"refuses {count[True, False]} that are imported and {count[False, False]} that are refused here; "
             f"{len(heavier)} of another mass"]  # fmt: skip
    for o, _ in both:
        if not o.imported and o.judges[judge].takes:
            lines.append(f"    taken by {judge}: {o.file}: {o.said[0][:200]}")
    for o in heavier if everything else heavier[: 10 * SHOWN]:
        lines.append(f"    {o.mass:.6g} kg here, {o.judges[judge].mass:.6g} kg there: {o.file}")
    return lines


def main() -> None:
    """Survey the folders that the command line names."""
    parser = argparse.ArgumentParser(description="Imports every robot file below folders, and prints what came of it.")
    parser.add_argument(
        "folders", nargs="*", type=Path, help="two packages from PyPI are downloaded where none is named"
    )
    parser.add_argument("--json", metavar="FILE", help="every outcome as JSON")
    parser.add_argument("--seconds", type=float, default=60.0, help="for one file (default 60)")
    parser.add_argument("--share", default="1/1", metavar="K/N", help="only every Nth file, from the Kth on")
    parser.add_argument("--all", action="store_true", help="print every file of each cause")
    parser.add_argument("--without-judges", action="store_true", help="ask neither MuJoCo nor pinocchio")
    options = parser.parse_args()
    first, step = map(int, options.share.split("/"))
    judges = [] if options.without_judges else [name for name in JUDGES if find_spec(name)]
    worker, outcomes = Worker(options.seconds), []
    for top in options.folders or downloaded():
        packages = packages_around(top)
        for path in sorted(filter(is_candidate, top.rglob("*")))[first - 1 :: step]:
            outcomes.append(surveyed(path, packages, worker, judges))
            print("." if outcomes[-1].imported else "R", end="", flush=True)
    worker.close()
    print("\n" + "\n".join(table(outcomes, options.all)))
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(o) for o in outcomes], indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
