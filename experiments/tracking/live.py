"""Trackers live: the UR10 follows samples that come late, unevenly, and not at all now and then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from experiments.experiment import Experiment, Found, tell
from experiments.tracking.serial_chain import SerialChain
from robik.mechanism import Mechanism
from robik.robots import load
from robik.tracking import (
    DifferentialTracker,
    ForwardDynamicsTracker,
    Live,
    StateBasedTracker,
    Target,
    Targets,
    Tracker,
)

RATES = (10.0, 30.0, 60.0)  # Hz, of samples
LATE, MISSING = 0.4, 0.1  # of a period, of all samples
AT_LIMIT = 0.99  # of a motor's acceleration
TRACKERS: dict[str, Callable[[Mechanism], Tracker]] = {
    "differential": DifferentialTracker,
    "state-based": StateBasedTracker,
    "forward dynamics": ForwardDynamicsTracker,
}


def live(seed: int = 0) -> list[dict[str, Any]]:
    """Return a row per tracker and rate.

    `delay_s`: of the tool at half of a step of 5 cm. Along a figure of eight `error_m`: mean, with the delay taken off;
    `speed`, `acceleration`: the largest by the motors' limits; `at_limit`: the share of steps with a motor at its
    acceleration.
    """
    rows = []
    for name, kind in TRACKERS.items():
        stream = Live(kind(load("ur10")))
        for rate in RATES:
            tell(f"live: {name}, {rate:g} Hz")
            rows.append(
                {"tracker": name, "rate": rate, "delay_s": _delay(stream, rate, seed), **_following(stream, rate, seed)}
            )
    return rows


def _played(
    stream: Live, rate: float, seconds: float, where: Callable[[float], np.ndarray], seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return what comes out (T, A), and the tool's way (T, 3) from where it starts, after uneven samples of `where`."""
    stream.restart(np.array([v for joint in stream.tracker.mechanism.actuated for v in joint.rest]))
    pose, rng = stream.tracker.frame("tool"), np.random.default_rng(seed)
    start, turn = np.array(pose.position), np.array(pose.quaternion)
    out, k, due = [], 0, 0.0
    while stream.time < seconds:
        while due <= stream.time:
            if rng.random() > MISSING:
                stream.receive(Targets({"tool": Target(start + where(k / rate), turn)}), stream.time)
            k += 1
            due = k / rate + float(rng.uniform(0.0, LATE / rate))
        out.append(stream.step())
    arm, tool = SerialChain(stream.tracker.mechanism, "tool"), []
    for values in out:
        arm.place(values)
        tool.append(arm.position - start)
    return np.array(out), np.array(tool)


def _delay(stream: Live, rate: float, seed: int) -> float:
    """Return the time from a target's step of 5 cm until the tool has gone half of it [s].

    The median over runs in which samples arrive differently.
    """
    delays = []
    for run in range(5):
        _, tool = _played(
            stream, rate, 2.0, lambda t: np.array([0.05 if t >= 1.0 - 1e-9 else 0.0, 0.0, 0.0]), seed + run
        )
        delays.append((np.argmax(tool[:, 0] > 0.025) + 1) / stream.rate - 1.0)
    return float(np.median(delays))


def _following(stream: Live, rate: float, seed: int) -> dict[str, float]:
    values, tool = _played(stream, rate, 8.0, _eight, seed)
    times = np.arange(1, len(tool) + 1) / stream.rate
    speed = np.abs(np.diff(values, axis=0)) * stream.rate / stream.limits.velocity
    acceleration = np.abs(np.diff(values, n=2, axis=0)) * stream.rate**2 / stream.limits.acceleration
    return {
        "error_m": min(_error(tool, times, late) for late in np.arange(0.0, 0.5, 0.005)),
        "speed": float(speed.max()),
        "acceleration": float(acceleration.max()),
        "at_limit": float((acceleration > AT_LIMIT).any(axis=1).mean()),
    }


def _eight(t: np.ndarray | float) -> np.ndarray:
    """Return a figure of eight, 24 cm wide, in 4 s; at times (T,) or at one of them."""
    begun = np.minimum(t, 1.0)
    grow = begun**2 * (3 - 2 * begun)
    return np.stack([0.0 * grow, 0.12 * grow * np.sin(np.pi / 2 * t), 0.06 * grow * np.sin(np.pi * t)], axis=-1)


def _error(tool: np.ndarray, times: np.ndarray, late: float) -> float:
    """Mean distance from where the target was, the first second left out [m]."""
    return float(np.linalg.norm(tool - _eight(np.maximum(times - late, 0.0)), axis=1)[times > 1.0].mean())


def run(seed: int = 0) -> Found:
    """Measure every tracker at every rate."""
    return {"seed": seed, "live": live(seed)}


def show(found: Found) -> None:
    """Print a line per tracker and rate."""
    print("\nUR10, live: samples Hz, delay ms, error mm, peak speed and acceleration by their limits, steps at it")
    for row in found["live"]:
        kept = f"{row['speed']:8.2f}{row['acceleration']:8.3f}{row['at_limit']:8.0%}"
        print(f"  {row['tracker']:18}{row['rate']:5g}{1e3 * row['delay_s']:8.0f}{1e3 * row['error_m']:8.1f}{kept}")


EXPERIMENT = Experiment(run=run, show=show, parameters={"seed": (0, 0)})
