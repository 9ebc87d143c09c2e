"""Batches of many short clips: rate and memory over the run, and what a machine allows at most."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from experiments import CHECKOUT
from experiments.experiment import Experiment, Found, tell
from experiments.walking_character import RATE, walking_character
from robik import program

FOLDER = CHECKOUT.parent / "shared/data"
ROBOT, RECORDINGS = "unitree_g1/g1_29dof.xml", ("bvh/05_20-mb.bvh", "bvh/bvh_test1.bvh")
SHORTEST, LONGEST = 60, 100  # frames of a clip
PACES = (0.7, 1.2)  # of a walk
LOOK = 1.0  # s between two looks at memory


def run(folder: str = str(FOLDER), clips: int = 60, workers: int = 2) -> Found:
    """Retarget many clips with one command; then a part of them with one process, and with commands side by side."""
    with tempfile.TemporaryDirectory() as made:
        source = Path(made) / "clips"
        make_clips(Path(folder), source, clips)
        robot = str(Path(folder) / ROBOT)
        batch(robot, source, Path(made) / "warm", "--shard", f"1/{clips}")
        tell(f"{clips} clips, {workers} workers")
        whole = batch(robot, source, Path(made) / "whole", "--workers", str(workers))
        part = max(1, clips // 60)
        tell("one worker")
        alone = batch(robot, source, Path(made) / "alone", "--workers", "1", "--shard", f"1/{part}")
        tell("the same shares, by as many workers, and by commands side by side")
        pooled = batch(robot, source, Path(made) / "pooled", "--workers", str(workers), "--shard", f"1/{part}")
        apart = _apart(robot, source, Path(made), workers, part)
        return {"clips": clips, "workers": workers, "whole": whole, "alone": alone, "pooled": pooled, "apart": apart}


def show(found: Found) -> None:
    """Print rates, and memory over the run."""
    whole, alone = found["whole"], found["alone"]["frames_per_s"]
    print(f"{found['clips']} clips, {whole['frames']} frames, {found['workers']} workers: {whole['seconds']:.0f} s")
    print(f"{whole['frames_per_s']:.0f} frames/s, {whole['frames'] / whole['cpu_s']:.0f} per second of CPU")
    for name, text in (("pooled", "workers"), ("apart", "commands side by side, the most that this machine allows")):
        print(f"{found['workers']} {text}: {found[name]['frames_per_s'] / alone:.2f} times one worker")
    memory = np.array(whole["memory_mb"])
    print("MB of all processes, by tenths of the run:", *(f"{part.mean():.0f}" for part in np.array_split(memory, 10)))


def make_clips(data: Path, folder: Path, count: int) -> None:
    """Write clips of 60 to 100 frames: cuts of recordings as BVH, and of the synthetic walk at many paces as npz.

    Args:
        data: Folder of the recordings.
        folder: Of the clips; it is made.
        count: Of the clips.
    """
    random = np.random.default_rng(1)
    folder.mkdir(parents=True)
    texts = [(data / name).read_text(encoding="latin-1") for name in RECORDINGS]
    walk = walking_character()
    for k in range(count):
        if k % 4 < 3:
            _cut(texts[k % 4 // 2], folder / f"{k:04}.bvh", random)
        else:
            frames = int(random.integers(SHORTEST, LONGEST + 1))
            first = int(random.integers(len(walk.times) - frames))
            np.savez(
                folder / f"{k:04}.npz",
                positions=walk.positions[first : first + frames],
                joint_names=np.array(walk.skeleton.names),
                parents=walk.skeleton.parents,
                fps=RATE * random.uniform(*PACES),
            )


def _cut(text: str, file: Path, random: np.random.Generator) -> None:
    """Write a stretch of a BVH file."""
    head, _, lines = re.split(r"(Frames:\s*\d+)", text)
    period, *poses = [line for line in lines.splitlines() if line.strip()]
    length = min(int(random.integers(SHORTEST, LONGEST + 1)), len(poses))
    first = int(random.integers(len(poses) - length + 1))
    file.write_text("\n".join([f"{head}Frames: {length}", period, *poses[first : first + length], ""]))


def batch(robot: str, source: Path, output: Path, *words: str) -> Found:
    """Run the command and look at it until it ends.

    Args:
        robot: Its file.
        source: Folder of clips.
        output: Folder to write.
        words: Further options.

    Returns:
        Frames, seconds, rate, seconds of CPU and memory of all its processes [MB], look by look.
    """
    return _watched([_started(robot, source, output, *words)], [output])


def _apart(robot: str, source: Path, folder: Path, workers: int, part: int) -> Found:
    """Run as many commands side by side as there would be workers, each with a share of its own."""
    outputs = [folder / f"apart-{k}" for k in range(workers)]
    shares = [("--workers", "1", "--shard", f"{1 + k * part}/{workers * part}") for k in range(workers)]
    return _watched([_started(robot, source, out, *share) for out, share in zip(outputs, shares, strict=True)], outputs)


def _started(robot: str, source: Path, output: Path, *words: str) -> subprocess.Popen:
    command = program.command("cli", "batch", robot, str(source), "-o", str(output), *words)
    return subprocess.Popen(command, env=program.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _watched(processes: list[subprocess.Popen], outputs: list[Path]) -> Found:
    began, spent, memory = time.monotonic(), sum(os.times()[2:4]), []
    while any(process.poll() is None for process in processes):
        memory.append(sum(_memory(process.pid) for process in processes))
        time.sleep(LOOK)
    seconds, cpu = time.monotonic() - began, sum(os.times()[2:4]) - spent
    frames = sum(_frames(output) for output in outputs)
    return {
        "frames": frames, "seconds": seconds, "frames_per_s": frames / seconds, "cpu_s": cpu, "memory_mb": memory,
    }  # fmt: skip


def _frames(output: Path) -> int:
    rows = output.glob("table*.csv")
    return sum(int(line.split(",")[2] or 0) for table in rows for line in table.read_text().splitlines()[1:])


def _memory(pid: int) -> float:
    """Return the resident memory of a process and those that it started [MB]; 0 where it has ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0.0
    return 1e-6 * os.sysconf("SC_PAGE_SIZE") * pages + sum(_memory(int(child)) for child in children)


EXPERIMENT = Experiment(run=run, show=show, parameters={"clips": (60, 1000)})
