"""Every case by RobIK and by each library that is installed, one after the other."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import numpy as np

from experiments import CHECKOUT
from experiments.experiment import Experiment, Found, tell
from experiments.peers.cases import Case, cases
from experiments.peers.handover import write_case
from experiments.peers.judge import Verdict, judge, poses_of
from robik.retargeting.retarget import retarget

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = {"mink": "peers", "pink": "peers", "PlaCo": "placo"}
VARIANTS = {"hard": "", "soft": ", loops soft", "damped": ", damped", "whole": ", all rows"}
REPEATS = (1, 3)  # runs of each library on each case: by default, in full
ONE_CORE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
CLOSED = 1e-9  # m: what counts as solved


def run(repeats: int = REPEATS[0]) -> Found:
    """Follow every case by RobIK and by each library that is installed; return the verdicts by case."""
    return {case.name: [asdict(verdict) for verdict in measured(case, repeats)] for case in cases()}


def show(found: Found) -> None:
    """Print a table per case, and one of ratios."""
    results = {name: [Verdict(**verdict) for verdict in verdicts] for name, verdicts in found.items()}
    for name, verdicts in results.items():
        print_case(name, verdicts)
    print_ratios(results)


def measured(case: Case, repeats: int) -> list[Verdict]:
    """Return RobIK's verdict, then the others'.

    Each the fastest of some runs, all taking turns, since a machine is not always as fast.
    """
    retarget(case.mechanism, case.clip, case.settings)  # compiles
    best: dict[str, Verdict] = {}
    with tempfile.TemporaryDirectory() as folder:
        write_case(case, Path(folder))
        runs = {"RobIK": lambda: _robik(case)} | _peers(case, Path(folder))
        for repeat in range(repeats):
            for name, run in runs.items():
                if name in best and best[name].failed:
                    continue
                tell(f"peers: {case.name}, {name}, run {repeat + 1} of {repeats}")
                verdict = replace(run(), library=name)
                best[name] = min(best.get(name, verdict), verdict, key=lambda v: v.milliseconds)
    return list(best.values())


def _peers(case: Case, folder: Path) -> dict[str, Callable[[], Verdict]]:
    """Return the runners of each library that is installed, one for each way that it has to close loops."""
    loops = bool(json.loads((folder / "case.json").read_text())["points"])
    runs: dict[str, Callable[[], Verdict]] = {}
    for library, environment in ENVIRONMENTS.items():
        python = CHECKOUT / ".cache" / environment / "bin" / "python"
        if not (CHECKOUT / ".cache" / environment / "made-from").exists():  # written once the installation is whole
            tell(f"peers: {library} is not installed; experiments/peers/environments installs it")
            continue
        for variant, note in VARIANTS.items() if loops else [("hard", "")]:
            runs[library + note] = partial(_peer, case, folder, python, library, variant)
    return runs


def _robik(case: Case) -> Verdict:
    motion = retarget(case.mechanism, case.clip, case.settings)
    assert motion.report is not None
    stopped = {k for k, why in motion.report.short if "solver stopped" in why}
    failed = np.array([k in stopped for k in range(len(motion.times))])
    seconds, iterations = 1e-3 * motion.report.milliseconds, motion.report.iterations
    return judge(case, "RobIK", *poses_of(case, motion), seconds, iterations, failed, "")


def _peer(case: Case, folder: Path, python: Path, library: str, variant: str) -> Verdict:
    result = folder / "result.npz"
    command: list[str | Path] = [python, HERE / f"{library.lower()}_runner.py", folder, result, variant]
    subprocess.run(command, check=True, env=os.environ | ONE_CORE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with np.load(result) as file:
        poses = {key: file[key] for key in ("com", "rotation", "seconds", "iterations", "failed")}
        return judge(case, library, **poses, why=str(file["why"]))


def print_case(name: str, verdicts: list[Verdict]) -> None:
    """Print a table of a case, as docs/benchmarks.md has it."""
    print(f"\n{name}\n")
    print(
        "| | ms per frame: median, mean, 99 %, worst | iterations: mean, most |"
        " position, mm | rotation, rad | CoM, mm | f mean | closure, m |"
        " jump, rad | failed |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for v in verdicts:
        com = "" if np.isnan(v.com_error) else f"{1e3 * v.com_error:.3g}"
        print(
            f"| {v.library} | {v.milliseconds:.3g}, {v.mean:.3g}, {v.late:.3g}, {v.longest:.3g} |"
            f" {v.iterations:.1f}, {v.most_iterations} |"
            f" {1e3 * v.position_error:.2g} | {v.orientation_error:.2g} | {com} | {v.objective:.4g} | {v.closure:.1g} |"
            f" {v.jump:.2g} | {v.failed} |"
        )
    for why in {f"{v.library}: {v.why}" for v in verdicts if v.why}:
        print(f"\n{why}")


def print_ratios(results: dict[str, list[Verdict]]) -> None:
    """RobIK's time by that of each library's fastest way that solves the case."""
    print("\nRobIK's time per frame by that of each library's fastest way that solves every frame\n")
    print(f"| | {' | '.join(ENVIRONMENTS)} |\n|---|{'---|' * len(ENVIRONMENTS)}")
    for name, (ours, *others) in results.items():
        cells = []
        for library in ENVIRONMENTS:
            solved = [
                v.milliseconds
                for v in others
                if v.library.split(",")[0] == library and not v.failed and v.closure < CLOSED
            ]
            cells.append(f"{ours.milliseconds / min(solved):.2f}" if solved else "none solves it")
        print(f"| {name} | {' | '.join(cells)} |")


EXPERIMENT = Experiment(run=run, show=show, parameters={"repeats": REPEATS})
