"""Trackers as Follow Live runs them: error, delay, and load of the motors.

60 steps a second, each after the newest targets.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time
from typing import Any

import numpy as np

from experiments.experiment import Experiment, Found, tell
from experiments.tracking.live import TRACKERS
from robik.bench.clips import dance_clip, samples, smoothstep
from robik.bench.walking import walk_clip
from robik.clips.clip import TargetClip, Track
from robik.limiter import Limiter
from robik.mechanism.model import Mechanism
from robik.robots import load
from robik.tracking import Target, Targets, Tracker
from robik.tracking.limits import MotionLimits
from robik.tracking.live import FAR

FPS = 60.0
DOWN = 0.04  # m, of a squat
DRAGGED = 0.05  # m: how far a hand drags the pelvis to each side
MOVES = (0.2, 0.8)  # s that a move of the hand takes, at least and at most
BEYOND = 1.001  # of a limit
LATEST = 0.5  # s of delay that are looked at


def following(seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield a row per motion and tracker.

    `error_m`, `worst_m`: distance of the frames from their targets, mean and largest; `left_m`: in the end; `delay_s`:
    what is to be taken off for the least mean, `shape_m`; `speed`, `acceleration`: of the motors, the largest by their
    limits; `too_much`: the share of steps with a motor beyond one of them; `held_back_rad`: how far a guard that keeps
    the limits leaves a motor behind; `ms`: median of a step.
    """
    walker, dancer = load("walker"), load("dancer")
    motions = {
        "squat": squat(walker, 0.5),
        "squat, scrubbed": squat(walker, 0.0),
        "walk": walk_clip(walker, FPS, False),
        "dance": dance_clip(dancer, FPS),
        "dragged": dragged(walker, seed),
    }
    for motion, clip in motions.items():
        for name, kind in TRACKERS.items():
            tell(f"following: {motion}, {name}")
            yield {"motion": motion, "tracker": name, **_followed(kind(dancer if motion == "dance" else walker), clip)}


def squat(walker: Mechanism, takes: float) -> TargetClip:
    """Return the pelvis goes down, within `takes` seconds or at once, and stays there for a second; the feet stand."""
    t = samples(FPS, 0.2 + takes + 1.0)
    down = smoothstep((t - 0.2) / takes) if takes else np.where(t < 0.2, 0.0, 1.0)
    return _moved(walker, t, np.stack([0 * t, 0 * t, -DOWN * down], axis=1))


def dragged(walker: Mechanism, seed: int, seconds: float = 20.0) -> TargetClip:
    """Return the pelvis goes from place to place as a hand moves it, now quickly, now slowly, with rests.

    The feet stand.
    """
    rng, t = np.random.default_rng(seed), samples(FPS, seconds)
    away, start, at = np.zeros((len(t), 3)), 0.3, np.zeros(3)
    while start < seconds:
        target = np.append(rng.uniform(-DRAGGED, DRAGGED, 2), rng.uniform(-DRAGGED, 0.0))
        takes = rng.uniform(*MOVES)
        away += smoothstep((t - start) / takes)[:, None] * (target - at)
        at, start = target, start + takes + rng.uniform(0.0, 0.5)
    return _moved(walker, t, away)


def _moved(walker: Mechanism, t: np.ndarray, pelvis: np.ndarray) -> TargetClip:
    """Feet that stand, and a pelvis (T, 3) away from where it rests [m]."""
    tracks = {}
    for name, away in (("pelvis", pelvis), ("foot_l", 0 * pelvis), ("foot_r", 0 * pelvis)):
        rest = walker.rest_pose(name)
        tracks[name] = Track(np.array(rest.position) + away, np.tile(rest.quaternion, (len(t), 1)))
    return TargetClip(t, tracks)


def _followed(tracker: Tracker, clip: TargetClip) -> dict[str, float]:
    limits = MotionLimits.of(tracker.mechanism)
    ends = np.clip(np.column_stack([limits.lower, limits.upper]), -FAR, FAR)
    guard = Limiter(ends, limits.velocity, limits.acceleration, 1 / FPS)
    tracker.step(_now(clip, 0), 1 / FPS)  # compiles
    tracker.reset()
    guard.place(tracker.values)
    values, places, spent, held_back = [tracker.values] * 2, [], [], 0.0
    for k in range(len(clip.times)):
        begun = process_time()
        moved = tracker.step(_now(clip, k), 1 / FPS)
        spent.append(process_time() - begun)
        held_back = max(held_back, float(np.abs(guard.step(moved, (moved - values[-1]) * FPS) - moved).max()))
        values.append(moved)
        places.append([tracker.frame(name).position for name in clip.tracks])
    wanted = np.stack([track.position for track in clip.tracks.values() if track.position is not None], axis=1)
    off, (delay, shape) = np.linalg.norm(places - wanted, axis=2), _delay(np.array(places), wanted)
    speed = np.abs(np.diff(values, axis=0)) * FPS / limits.velocity
    acceleration = np.abs(np.diff(values, n=2, axis=0)) * FPS**2 / limits.acceleration
    too_much = (speed[1:] > BEYOND).any(axis=1) | (acceleration > BEYOND).any(axis=1)
    return {
        "error_m": float(off.mean()), "worst_m": float(off.max()), "left_m": float(off[-1].max()), "delay_s": delay,
        "shape_m": shape,
        "speed": float(speed.max()), "acceleration": float(acceleration.max()), "too_much": float(too_much.mean()),
        "held_back_rad": held_back, "ms": 1e3 * float(np.median(spent)),
    }  # fmt: skip


def _now(clip: TargetClip, k: int) -> Targets:
    """Return the targets of frame k."""
    tracks = clip.tracks.items()
    return Targets(
        {
            n: Target(None if t.position is None else t.position[k], None if t.quaternion is None else t.quaternion[k])
            for n, t in tracks
        }
    )


def _delay(places: np.ndarray, wanted: np.ndarray) -> tuple[float, float]:
    """Return the delay [s] of the frames behind the targets (T, n, 3), and the mean error then [m]."""
    times = np.arange(len(wanted)) / FPS
    best = (np.inf, 0.0)
    for late in np.arange(0.0, LATEST, 0.005):
        then = np.apply_along_axis(lambda row, t: np.interp(t, times, row), 0, wanted, times - late)
        best = min(best, (float(np.linalg.norm(places - then, axis=2).mean()), float(late)))
    return best[1], best[0]


def run(seed: int = 0) -> Found:
    """Measure every motion with every tracker."""
    return {"seed": seed, "following": list(following(seed))}


def show(found: Found) -> None:
    """Print a line per motion and tracker."""
    print("\nfollowed at 60 Hz: mean mm, worst, in the end, delay ms, mean without it,", end=" ")
    print("speed, acceleration by their limits, steps beyond, ms")
    for row in found["following"]:
        off = "".join(f"{1e3 * row[key]:9.3f}" for key in ("error_m", "worst_m", "left_m"))
        asked = f"{row['speed']:8.2f}{row['acceleration']:8.2f}{row['too_much']:8.0%}{row['ms']:9.3f}"
        print(
            f"  {row['motion']:16}{row['tracker']:18}{off}{1e3 * row['delay_s']:6.0f}{1e3 * row['shape_m']:9.3f}{asked}"
        )


EXPERIMENT = Experiment(run=run, show=show, parameters={"seed": (0, 0)})
