"""Work that clips take, counted so that it does not depend on the machine: `python -m tools.work`.

A regression shows without a clock. `tests/test_work.py` compares the counts with those in `tools/work.json`; after a
change that is meant, `python -m tools.work --write` stores the new ones.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from robik import Settings, robots
from robik.bake.bake import bake
from robik.bake.request import BakeRequest
from robik.bake.settings import MOVING, Balance
from robik.bench.cases import ARM, DANCER, NAIVE
from robik.bench.clips import arm_clip, dance_clip
from robik.bench.walking import walk_clip
from robik.clips.clip import TargetClip
from robik.collision.apart import walls_of
from robik.mechanism import Mechanism
from robik.motions import Motion
from robik.objectives.weights import Weights
from robik.retargeting import retarget as retargeting
from robik.tracking.live import Live
from robik.tracking.state_based import StateBasedTracker
from robik.tracking.targets import Target, Targets

FILE = Path(__file__).with_suffix(".json")
TOLERANCE = 1.15  # times the stored count
SPARE = 30  # calls beyond that, of whatever kind
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"  # calls in Python are told of this version alone
CALLS = {  # file and function of what is counted by name
    "clips solved": ("retargeting/asked.py", "check_asked"),
    "rooms laid out": ("ik/room.py", "_new_room"),
    "programs": ("clip_solver/program.py", "solved_program"),
}
Counts = dict[str, int]


def _followed(robot: Mechanism, clip: TargetClip, settings: Settings, times: int = 1) -> Motion:
    """Return the last motion of a robot that follows a clip so many times."""
    for _ in range(times):
        motion = retargeting.retarget(robot, clip, settings)
        assert motion.report is not None
    return motion


def _baked(robot: Mechanism, clip: TargetClip) -> Motion:
    """Return a walk with balance in motion, walls and look-ahead, as a bake has them by default."""
    return bake(
        BakeRequest(
            mechanism=robot,
            clip=clip,
            weights={"pelvis": Weights((0.0, 0.0, 1.0))},
            balance=Balance(mode=MOVING, margin=0.04, gives=0.0),
            walls=partial(walls_of, robot, robots.path(robot.name)),
        )
    ).motion


def _live(robot: Mechanism, clip: TargetClip) -> None:
    live = Live(StateBasedTracker(robot), rate=60.0)
    for k in range(len(clip.times)):
        live.receive(Targets({
            name: Target(track.position[k], None if track.quaternion is None else track.quaternion[k])
            for name, track in clip.tracks.items() if track.position is not None
        }))  # fmt: skip
        live.step()


def clips() -> dict[str, Callable[[], Motion | None]]:
    """Return what is counted, by name; each is made of a robot of its own, on which nothing was solved."""
    arm, ur10, dancer = (robots.load(name) for name in ("arm7", "ur10", "dancer"))
    walkers = [robots.load("walker") for _ in range(5)]
    short, dance = arm_clip(ur10, 24.0).part(0, 24), dance_clip(dancer, 60.0).part(0, 60)
    reach, walk = arm_clip(arm, 60.0).part(0, 90), walk_clip(walkers[0], 60.0, balanced=False)
    quick, run = (replace(clip, times=clip.times / by) for clip, by in ((reach, 2.0), (walk.part(60, 120), 4.0)))
    held = replace(NAIVE, contacts="hold")
    ahead, held_ahead = (
        replace(settings, look_ahead=True, acceleration_limit=30.0, enforce_velocity=True) for settings in (ARM, held)
    )
    return {
        "ur10, 24 frames, five times": partial(_followed, ur10, short, ARM, 5),
        "arm, too quick, look-ahead": partial(_followed, arm, quick, ahead),
        "dancer, 60 frames": partial(_followed, dancer, dance, DANCER),
        "walker, 24 frames, five times": partial(_followed, walkers[0], walk.part(0, 24), held, 5),
        "walker, 2 s": partial(_followed, walkers[1], walk.part(0, 120), held),
        "walker, too quick, look-ahead": partial(_followed, walkers[2], run, held_ahead),
        "walker, 2 s, baked": partial(_baked, walkers[3], walk.part(0, 120)),
        "ur10, live": partial(_live, ur10, short),
        "walker, live": partial(_live, walkers[4], walk.part(0, 60)),
    }


def counted() -> dict[str, Counts]:
    """Return the counts of each clip."""
    with _quick_clock():
        for run in clips().values():
            run()  # kernels are loaded, or compiled
        return {name: counts(run) for name, run in clips().items()}


@contextmanager
def _quick_clock() -> Iterator[None]:
    """Let no clock say how many frames are solved at a time."""
    clock = retargeting.perf_counter
    retargeting.perf_counter = lambda: 0.0
    try:
        yield
    finally:
        retargeting.perf_counter = clock


def counts(run: Callable[[], Motion | None]) -> Counts:
    """Return the counts of one run."""
    profile = cProfile.Profile()
    motion = profile.runcall(run)
    calls = {key: row[1] for key, row in pstats.Stats(profile).stats.items()}  # type: ignore[attr-defined]
    kernels = _kernels()
    found = {
        name: sum(n for (file, _, called), n in calls.items() if called == function and file.endswith(ending))
        for name, (ending, function) in CALLS.items()
    }
    found["calls into kernels"] = sum(n for key, n in calls.items() if key in kernels)
    found["calls in Python"] = sum(calls.values())
    if motion is not None and motion.report is not None:
        found["iterations"] = int(motion.report.iterations.sum())
        ahead = motion.report.look_ahead
        found["iterations over all frames"] = 0 if ahead is None else ahead.iterations
        found["frames that fall short"] = len(motion.report.short)
    return found


def _kernels() -> set[tuple[str, int, str]]:
    """Return what a profile calls the compiled functions that are loaded."""
    found = set()
    for module in [module for name, module in sys.modules.items() if name.startswith("robik.")]:
        for value in vars(module).values():
            code: Any = getattr(getattr(value, "py_func", None), "__code__", None)
            if code is not None:
                found.add((code.co_filename, code.co_firstlineno, code.co_name))
    return found


def stored() -> dict[str, Any]:
    """Return the counts that are stored, and the version of Python that they are of."""
    return json.loads(FILE.read_text())


def regressions(found: dict[str, Counts], known: dict[str, Any]) -> list[str]:
    """Return in a sentence each what takes more than is stored."""
    told = []
    for name, counts in found.items():
        for kind, before in known["clips"][name].items():
            now, most = counts[kind], int(before * TOLERANCE) + (SPARE if kind.startswith("calls") else 0)
            if now > most and (kind != "calls in Python" or known["python"] == PYTHON):
                told.append(f"{name}: {kind} {before} → {now}, at most {most}")
    return told


def main() -> None:
    """Print the counts beside the stored ones, or store them."""
    parser = argparse.ArgumentParser(prog="python -m tools.work", description=__doc__)
    parser.add_argument("--write", action="store_true", help="store the counts in tools/work.json")
    write, found = parser.parse_args().write, counted()
    if write:
        FILE.write_text(json.dumps({"python": PYTHON, "clips": found}, indent=2) + "\n")
    known = stored()["clips"] if FILE.exists() else {}
    for name, counts in found.items():
        print(name)
        for kind, now in counts.items():
            print(f"  {kind:28} {known.get(name, {}).get(kind, 0):9} {now:9}")


if __name__ == "__main__":
    main()
