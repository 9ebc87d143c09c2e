"""One table of all solvers, Lee's and ours.

The same arms, the same random targets, the same path, the same singularity.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from experiments.experiment import Experiment, Found, tell
from experiments.tracking.analytic import hybrid, limb, two_link
from experiments.tracking.classic import (
    REACHED,
    ClassicTracker,
    Method,
    Solution,
    cyclic_coordinate_descent,
    damped_least_squares,
    jacobian_transpose,
    nonlinear_optimisation,
    pseudo_inverse,
)
from experiments.tracking.serial_chain import ChainTarget, SerialChain
from experiments.tracking.two_link import two_link_arm
from robik.ik.solver import Solver
from robik.mechanism.model import Mechanism
from robik.mechanism.pose import matrix_quaternion
from robik.objectives.settings import Settings
from robik.robots import load
from robik.tracking import (
    DifferentialSettings,
    DifferentialTracker,
    ForwardDynamicsTracker,
    StateBasedTracker,
    Target,
    Targets,
    Tracker,
    TwinSettings,
)
from robik.tracking.limits import MotionLimits

TARGETS = (200, 10_000)  # random ones for each solver: by default, in full
MOST = 100  # iterations for a target
NEAREST = 1e-3  # m: so near to the best answer of all solvers counts as the nearest
FPS = 60.0
CLASSICS: dict[str, Method] = {
    "pseudo-inverse": pseudo_inverse,
    "damped least squares": damped_least_squares,
    "Jacobian transpose": jacobian_transpose,
    "coordinate descent": cyclic_coordinate_descent,
    "SciPy, bounded": nonlinear_optimisation,
}
CLOSED: dict[str, dict[str, Method]] = {
    "two_link": {"analytic": two_link},
    "arm7": {"analytic limb": limb, "hybrid": hybrid},
    "ur10": {},
}
ONE_SHOT = TwinSettings(
    iterations=1, position_gain=(100.0,) * 3, rotation_gain=(100.0,) * 3
)  # half of the way in an iteration
Row = dict[str, Any]


def arms() -> dict[str, tuple[Mechanism, str]]:
    """Return what is measured on: the arm and its frame."""
    return {"two_link": (two_link_arm(), "tip"), "arm7": (load("arm7"), "tool"), "ur10": (load("ur10"), "tool")}


def solvers_table(seed: int = 0, targets: int = TARGETS[0]) -> list[Row]:
    """Return a row per arm and solver.

    `success`, `iterations`, `ms`: of random targets that the arm can reach, from its rest pose; `nearest`, `excess_m`:
    of a tenth as many beyond its reach, how many ended within a millimetre of the best answer, and how far the others
    were from it, median. `path_*`: along a circle; `singular_*`: pulled straight out beyond reach and back: error [m],
    peak speed [rad/s], acceleration [rad/s²].
    """
    rows = []
    for name, (mechanism, frame) in arms().items():
        chain = SerialChain(mechanism, frame)
        reachable, beyond = _reachable(chain, seed, targets), _beyond(chain, seed, max(targets // 10, 1))
        own = []
        for solver, method in _methods(name, mechanism, frame).items():
            tell(f"solvers: {name}, {solver}, {targets} targets")
            own.append(
                {
                    "robot": name,
                    "solver": solver,
                    **_reach(chain, method, reachable),
                    **_distances(chain, method, beyond),
                }
            )
        best = np.min([row["distances"] for row in own], axis=0)
        for row in own:
            excess = row.pop("distances") - best
            row |= {"nearest": float((excess < NEAREST).mean()), "excess_m": float(np.median(excess))}
            row |= {
                f"path_{k}": v
                for k, v in _along(chain, _tracker(name, mechanism, row["solver"]), *_circle(chain)).items()
            }
            row |= {
                f"singular_{k}": v
                for k, v in _along(chain, _tracker(name, mechanism, row["solver"]), *_pull(chain)).items()
            }
        rows += own
    return rows


def _reachable(chain: SerialChain, seed: int, count: int) -> list[ChainTarget]:
    """Return where the frame is at random joints between the limits, at most half a turn from zero.

    The two links ask for a position.
    """
    rng, found = np.random.default_rng(seed), []
    lower, upper = np.maximum(chain.lower, -np.pi), np.minimum(chain.upper, np.pi)
    for q in rng.uniform(lower, upper, (count, len(lower))):
        chain.place(q)
        found.append(ChainTarget(chain.position.copy(), chain.rotation.copy() if len(q) > 2 else None))
    return found


def _beyond(chain: SerialChain, seed: int, count: int) -> list[ChainTarget]:
    """Return positions 1.1 to 1.5 times as far from the first joints as the arm reaches there.

    Their directions are of its own workspace.
    """
    chain.place(chain.rest)
    centre = chain.joint(1)[1] if len(chain.rest) > 2 else np.zeros(3)
    centre = np.array([0.0, 0.0, centre[2]])
    reachable = _reachable(chain, seed + 1, max(count, 200))
    away = np.array([target.position - centre for target in reachable])
    reach = np.linalg.norm(away, axis=1).max()
    scale = np.random.default_rng(seed + 2).uniform(1.1, 1.5, len(away))
    return [ChainTarget(centre + s * reach * v / np.linalg.norm(v)) for s, v in zip(scale, away, strict=True)][:count]


def _methods(robot: str, mechanism: Mechanism, frame: str) -> dict[str, Method]:
    return {
        **CLOSED[robot],
        **CLASSICS,
        "forward dynamics": _stepping(ForwardDynamicsTracker(mechanism, ONE_SHOT), frame),
        "differential": _stepping(_unhurried(mechanism), frame),
        "state-based": _by_state(mechanism, frame),
    }


def _stepping(tracker: Tracker, frame: str) -> Method:
    """Return a tracker whose steps are the iterations for a target that stands still."""

    def solve(chain: SerialChain, q: np.ndarray, target: ChainTarget, most: int) -> Solution:
        tracker.put(q)
        asked = _targets(frame, target)
        for k in range(most + 1):
            chain.place(tracker.coordinates)
            if np.abs(chain.error(target)).max() <= REACHED or k == most:
                break
            tracker.step(asked, 1 / FPS)
        return Solution(tracker.coordinates, k, bool(np.abs(chain.error(target)).max() <= REACHED))

    return solve


def _unhurried(mechanism: Mechanism) -> DifferentialTracker:
    """Return the differential tracker without preferred posture and speed limits.

    A step then depends on its damping alone.
    """
    ends = MotionLimits.of(mechanism)
    free = np.full(len(ends.velocity), np.inf)
    return DifferentialTracker(
        mechanism, DifferentialSettings(posture_weight=0.0, limits=MotionLimits(ends.lower, ends.upper, free, free))
    )


def _by_state(mechanism: Mechanism, frame: str) -> Method:
    """Return the bake's solver on a clip of one frame."""
    solver = Solver(mechanism, (frame,), Settings())
    output = solver.room(1)

    def solve(chain: SerialChain, q: np.ndarray, target: ChainTarget, most: int) -> Solution:
        solver.reset()
        turn = None if target.rotation is None else np.array(matrix_quaternion(target.rotation))[None]
        solver.solve(output, 0, 1, solver.compile_targets({frame: (target.position[None], turn)}, None, np.zeros(1)))
        chain.place(output.q[0])
        return Solution(
            output.q[0].copy(), int(output.iterations[0]), bool(np.abs(chain.error(target)).max() <= REACHED)
        )

    return solve


def _reach(chain: SerialChain, method: Method, goals: list[ChainTarget]) -> Row:
    method(chain, chain.rest.copy(), goals[0], MOST)
    start = process_time()
    found = [method(chain, chain.rest.copy(), target, MOST) for target in goals]
    spent = process_time() - start
    return {
        "success": float(np.mean([s.reached for s in found])),
        "iterations": float(np.mean([s.iterations for s in found])),
        "ms": 1e3 * spent / len(goals),
    }


def _distances(chain: SerialChain, method: Method, goals: list[ChainTarget]) -> Row:
    found = []
    for target in goals:
        chain.place(method(chain, chain.rest.copy(), target, MOST).q)
        found.append(float(np.linalg.norm(chain.error(target))))
    return {"distances": np.array(found)}


def _tracker(robot: str, mechanism: Mechanism, solver: str) -> Tracker:
    if solver == "forward dynamics":
        return ForwardDynamicsTracker(mechanism)
    if solver == "differential":
        return _unhurried(mechanism)
    if solver == "state-based":
        return StateBasedTracker(mechanism)
    return ClassicTracker(mechanism, {**CLOSED[robot], **CLASSICS}[solver], most=20)


def _circle(chain: SerialChain, seconds: float = 4.0) -> tuple[np.ndarray, list[ChainTarget]]:
    """Start, and goals once round a circle well within reach, at 60 a second, the orientation kept."""
    start = _bent(chain)
    chain.place(start)
    centre, rotation = chain.position.copy(), chain.rotation.copy() if len(start) > 2 else None
    radius = 0.1 if len(start) > 2 else 0.08
    angle = 2 * np.pi * np.arange(1, round(seconds * FPS) + 1) / (seconds * FPS)
    across = (
        np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]) if len(start) > 2 else np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    )
    return start, [
        ChainTarget(centre + radius * ((np.cos(a) - 1) * across[0] + np.sin(a) * across[1]), rotation) for a in angle
    ]


def _pull(chain: SerialChain, seconds: float = 4.0) -> tuple[np.ndarray, list[ChainTarget]]:
    """Start, and goals out from the first joints to well beyond the reach, and back a little beside.

    Only the position counts.
    """
    start = _bent(chain)
    target = _beyond(chain, 0, 1)[0]
    chain.place(start)
    here = chain.position.copy()
    centre = np.array([0.0, 0.0, chain.joint(1)[1][2] if len(start) > 2 else 0.0])
    out = (here - centre) / np.linalg.norm(here - centre)
    most = np.linalg.norm(target.position - centre) - np.linalg.norm(here - centre)
    angle = np.pi * np.arange(1, round(seconds * FPS) + 1) / (seconds * FPS)
    aside = np.array([-out[1], out[0], 0.0]) / np.hypot(out[0], out[1])
    return start, [ChainTarget(here + most * np.sin(a) * out + 0.02 * np.sin(2 * a) * aside) for a in angle]


def _bent(chain: SerialChain) -> np.ndarray:
    return chain.rest.copy() if len(chain.rest) > 2 else np.array([0.4, 1.2])


def _along(chain: SerialChain, tracker: Tracker, start: np.ndarray, goals: list[ChainTarget]) -> Row:
    """Follow goals at 60 a second; how well and how smoothly."""
    tracker.put(start)
    values, errors = [tracker.coordinates], []
    for target in goals:
        tracker.step(_targets(chain.frame, target), 1 / FPS)
        values.append(tracker.coordinates)
        chain.place(values[-1])
        errors.append(float(np.linalg.norm(chain.error(target)[:3])))
    speed = np.diff(values, axis=0) * FPS
    return {
        "error_m": float(np.median(errors)),
        "end_error_m": errors[-1],
        "speed": float(np.abs(speed).max()),
        "acceleration": float(np.abs(np.diff(speed, axis=0) * FPS).max()),
    }


def _targets(frame: str, target: ChainTarget) -> Targets:
    turn = None if target.rotation is None else np.array(matrix_quaternion(target.rotation))
    return Targets({frame: Target(target.position, turn)})


COLUMNS: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("success", "reached", lambda v: f"{100 * v:.1f} %"),
    ("iterations", "iterations", lambda v: f"{v:.1f}"),
    ("ms", "ms", lambda v: f"{v:.3f}"),
    ("nearest", "nearest", lambda v: f"{100 * v:.0f} %"),
    ("excess_m", "excess, mm", lambda v: f"{1e3 * v:.2f}"),
    ("path_error_m", "path, mm", lambda v: f"{1e3 * v:.2g}"),
    ("path_acceleration", "rad/s²", lambda v: f"{v:.3g}"),
    ("singular_speed", "sing. rad/s", lambda v: f"{v:.3g}"),
    ("singular_acceleration", "sing. rad/s²", lambda v: f"{v:.3g}"),
    ("singular_end_error_m", "back, mm", lambda v: f"{1e3 * v:.2g}"),
)


def run(seed: int = 0, targets: int = TARGETS[0]) -> Found:
    """Measure every solver on every arm."""
    return {"seed": seed, "solvers": solvers_table(seed, targets)}


def show(found: Found) -> None:
    """Print a line per arm and solver."""
    print("\n" + " " * 32 + "".join(f"{title:>14}" for _, title, _ in COLUMNS))
    for row in found["solvers"]:
        print(f"  {row['robot']:9}{row['solver']:21}" + "".join(f"{text(row[key]):>14}" for key, _, text in COLUMNS))


EXPERIMENT = Experiment(run=run, show=show, parameters={"seed": (0, 0), "targets": TARGETS})
