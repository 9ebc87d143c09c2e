"""The four experiments of Scherzinger, Roennau and Dillmann on the UR10.

Forward dynamics against the Jacobian transpose.

Where the paper leaves a value to its pictures (starting poses, sizes), ours are constants here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.experiment import Experiment, Found, tell
from experiments.tracking.serial_chain import ChainTarget, SerialChain
from robik.mechanism.pose import matrix_quaternion
from robik.robots import load
from robik.tracking import ForwardDynamicsTracker, Target, Targets, TwinSettings

TOOL = "tool"
SAMPLES = 100_000
PAPER_FACTOR = 0.7885
TRANSLATION, ROTATION = (1.0, 1.0, 1.0), (0.1, 0.1, 0.1)  # K_p, eq. 18
STEP = np.array([0.6, 0.8, -0.5])  # m, of the distant target
CORNERS = np.array(
    [[0.2, -0.2], [0.2, 0.2], [-0.2, 0.2], [-0.2, -0.2]]
)  # m, of the square in the y-z plane, counterclockwise
CENTRE = np.array([-0.75, -0.16, 0.45])  # m
SPEED, RATE = 0.2, 100.0  # m/s, Hz
GAINS = (5.0, 10.0, 20.0, 30.0, 50.0)
ARRIVED = 1e-3  # m
MAPPINGS = ("transpose", "even", "end_effector")


def run(seed: int = 0, samples: int = SAMPLES) -> Found:
    """Run all four; `samples` random configurations for the mappings."""
    tell(f"scherzinger: mappings of {samples} configurations")
    measured = mappings(seed, samples)
    factor = measured["scaling_factor"]
    found = {"seed": seed, "scaling_factor": factor, "mappings": measured}
    tell("scherzinger: step response")
    found["step_response"] = step_response(factor)
    tell("scherzinger: from corner to corner")
    found["square"] = square(factor)
    tell("scherzinger: round the square")
    found["moving_square"] = moving_square()
    return found


def mappings(seed: int = 0, samples: int = SAMPLES) -> dict[str, Any]:
    """Return the statistics of the mappings f → ẍ (paper, Fig. 4).

    Mean, variance and standard deviation (6, 6) over random configurations, and eq. 19 from their means: J Jᵀ
    (kinematics alone), J H⁻¹ Jᵀ with a sixth of the mass in every link, and with all of it in the end effector.
    """
    arm = load("ur10")
    naive = ForwardDynamicsTracker(
        arm, TwinSettings(mass=1 / 6, inertia=1 / 6, link_mass=1 / 6, link_inertia=1 / 6, interval=0.01)
    )
    ours = ForwardDynamicsTracker(arm)
    q = np.random.default_rng(seed).uniform(-np.pi, np.pi, (samples, 6))
    J, even, conditioned = np.empty((samples, 6, 6)), np.empty((samples, 6, 6)), np.empty((samples, 6, 6))
    chain = SerialChain(arm, TOOL)
    target = Targets({TOOL: Target(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))})
    nothing = Targets()
    for k in range(samples):
        chain.place(q[k])
        J[k] = chain.jacobian()
        for tracker, asked, H in ((naive, nothing, even), (ours, target, conditioned)):
            tracker.put(q[k])
            H[k] = tracker.inertia(asked)[0]
    Jt = np.swapaxes(J, 1, 2)
    found = (J @ Jt, J @ np.linalg.solve(even, Jt), J @ np.linalg.solve(conditioned, Jt))
    stats = {name: _statistics(M) for name, M in zip(MAPPINGS, found, strict=True)}
    factor = np.diag(stats["end_effector"]["mean"]).mean() / np.diag(stats["transpose"]["mean"]).mean()
    return {"samples": samples, "scaling_factor": float(factor), "paper": PAPER_FACTOR, **stats}


def _statistics(M: np.ndarray) -> dict[str, np.ndarray]:
    return {"mean": M.mean(axis=0), "variance": M.var(axis=0), "deviation": M.std(axis=0)}


class Transpose:
    """The paper's rival: q̈ = α Jᵀ K_p e, integrated as ours is (Fig. 5)."""

    def __init__(self, factor: float, interval: float):
        self.chain = SerialChain(load("ur10"), TOOL)
        self.q = self.chain.rest.copy()
        self.gains, self.scale = np.array([*TRANSLATION, *ROTATION]), 0.5 * interval**2 * factor

    def iterate(self, target: ChainTarget) -> None:
        """One Δt."""
        self.chain.place(self.q)
        self.q = self.q + self.scale * (self.chain.jacobian().T @ (self.gains * self.chain.error(target)))


def _twin(iterations: int, interval: float, gain: float = 1.0) -> ForwardDynamicsTracker:
    settings = TwinSettings(
        iterations=iterations,
        interval=interval,
        position_gain=tuple(gain * g for g in TRANSLATION),  # type: ignore[arg-type]
        rotation_gain=tuple(gain * g for g in ROTATION),  # type: ignore[arg-type]
    )
    return ForwardDynamicsTracker(load("ur10"), settings)


def step_response(factor: float = PAPER_FACTOR, iterations: int = 150) -> dict[str, Any]:
    """Fig. 5: the six errors (N + 1, 6) [m, rad] after a sudden offset that leaves the orientation as it was.

    Δt = 1 s, K_p of eq. 18.

    `overshoot` (6,): how far each error goes to the other side; for the rotations, which begin at zero, how far it goes
    at all.
    """
    ours, theirs = _twin(1, 1.0), Transpose(factor, 1.0)
    start = ours.frame(TOOL)
    target = ChainTarget(np.array(start.position) + STEP, start.matrix)
    aim = _targets(target)
    errors = np.empty((2, iterations + 1, 6))
    for k in range(iterations + 1):
        for row, q in ((0, ours.values), (1, theirs.q)):
            theirs.chain.place(q)
            errors[row, k] = theirs.chain.error(target)
        ours.step(aim, 1.0)
        theirs.iterate(target)
    over = np.abs(errors).max(axis=1)
    over[:, :3] = np.maximum(-np.sign(errors[:, :1, :3]) * errors[:, :, :3], 0.0).max(axis=1)
    return {
        name: {"errors": errors[k], "overshoot": over[k], "left": np.abs(errors[k, -1])}
        for k, name in enumerate(("twin", "transpose"))
    }


def square(factor: float = PAPER_FACTOR, steps: int = 1000, iterations: int = 50) -> dict[str, Any]:
    """Fig. 7: from each corner of a square to the next, Δt = 0.1 s, N iterations a step.

    Per solver: `paths` (4, steps + 1, 3) [m], `length` (4,) of each path over that of the straight line, `deviation`
    (4,) [m] from the line sideways at most, `turned` (4,) [rad] away from the orientation that all corners share,
    `steps` (4,) until within a millimetre.
    """
    ours, theirs = _twin(iterations, 0.1), Transpose(factor, 0.1)
    corners = _corners(ours)
    found = {name: {"paths": np.empty((4, steps + 1, 3)), "turned": np.zeros(4)} for name in ("twin", "transpose")}
    for c in range(4):
        ours.put(corners[c][1])
        theirs.q = ours.values.copy()
        target = corners[(c + 1) % 4][0]
        aim = _targets(target)
        for k in range(steps + 1):
            for name, q in (("twin", ours.values), ("transpose", theirs.q)):
                theirs.chain.place(q)
                found[name]["paths"][c, k] = theirs.chain.position
                found[name]["turned"][c] = max(found[name]["turned"][c], np.linalg.norm(theirs.chain.error(target)[3:]))
            if k < steps:
                ours.step(aim, 0.1)
                for _ in range(iterations):
                    theirs.iterate(target)
    for row in found.values():
        row |= _straightness(row["paths"], np.array([corners[(c + 1) % 4][0].position for c in range(4)]))
    return found


def _straightness(paths: np.ndarray, goals: np.ndarray) -> dict[str, np.ndarray]:
    """Return how straight paths (4, T, 3) lead to their goals (4, 3)."""
    line = goals - paths[:, 0]
    span = np.linalg.norm(line, axis=1)
    along = line / span[:, None]
    away = paths - paths[:, :1]
    beside = away - np.einsum("cti,ci->ct", away, along)[..., None] * along[:, None]
    left = np.linalg.norm(goals[:, None] - paths, axis=2)
    return {
        "length": np.linalg.norm(np.diff(paths, axis=1), axis=2).sum(axis=1) / span,
        "deviation": np.linalg.norm(beside, axis=2).max(axis=1),
        "steps": np.where((left < ARRIVED).any(axis=1), (left < ARRIVED).argmax(axis=1), paths.shape[1]),
    }


def _corners(tracker: ForwardDynamicsTracker) -> list[tuple[ChainTarget, np.ndarray]]:
    """Return the square's corners, and coordinates of the arm at each."""
    rotation, found = tracker.frame(TOOL).matrix, []
    mover = ForwardDynamicsTracker(tracker.mechanism)
    for y, z in CORNERS:
        target = ChainTarget(CENTRE + np.array([0.0, y, z]), rotation)
        for _ in range(200):
            mover.step(_targets(target), 0.1)
        found.append((target, mover.coordinates))
    return found


def _targets(target: ChainTarget) -> Targets:
    assert target.rotation is not None
    return Targets({TOOL: Target(target.position, matrix_quaternion(target.rotation))})


def moving_square(gains: tuple[float, ...] = GAINS, laps: int = 2, iterations: int = 10) -> dict[str, Any]:
    """Fig. 8: round the square at 0.2 m/s with 100 targets a second, by gain; Δt = 0.1 s.

    Per gain, over the last lap: `error_mean_m`, `error_max_m`, `peak_speed` [rad/s], `peak_acceleration` [rad/s²],
    `path` (T, 3) [m].
    """
    side = float(np.abs(np.diff(CORNERS[:2], axis=0)).sum())
    lap = round(4 * side / SPEED * RATE)
    way = np.arange(laps * lap + 1) * SPEED / RATE / side % 4
    leg, part = way.astype(int), (way % 1)[:, None]
    flat = CORNERS[leg] * (1 - part) + CORNERS[(leg + 1) % 4] * part
    wanted = CENTRE + np.column_stack([np.zeros(len(flat)), flat])
    found: dict[str, Any] = {"target": wanted[-lap - 1 :], "gains": []}
    for gain in gains:
        tracker = _twin(iterations, 0.1, gain)
        target, q = _corners(tracker)[0]
        tracker.put(q)
        values, path = np.empty((len(wanted), 6)), np.empty((len(wanted), 3))
        for k, place in enumerate(wanted):
            values[k] = tracker.step(_targets(ChainTarget(place, target.rotation)), 1 / RATE)
            path[k] = tracker.frame(TOOL).position
        error = np.linalg.norm(path - wanted, axis=1)[-lap:]
        speed = np.diff(values[-lap - 1 :], axis=0) * RATE
        found["gains"].append({
            "gain": gain,
            "error_mean_m": float(error.mean()),
            "error_max_m": float(error.max()),
            "peak_speed": float(np.abs(speed).max()),
            "peak_acceleration": float(np.abs(np.diff(speed, axis=0) * RATE).max()),
            "path": path[-lap - 1 :],
        })  # fmt: skip
    return found


def show(found: Found) -> None:
    """Print a table per experiment."""
    print(f"scaling factor (eq. 19): {found['scaling_factor']:.4f}; in the paper {PAPER_FACTOR}")
    print("\nmappings f → ẍ of the UR10: mean of the diagonal, of the variances on it, largest mean beside it")
    for name in MAPPINGS:
        mean, variance = (np.array(found["mappings"][name][key]) for key in ("mean", "variance"))
        beside = np.abs(mean - np.diag(np.diag(mean))).max()
        print(f"  {name:14}{np.diag(mean).mean():10.4f}{np.diag(variance).mean():10.4f}{beside:12.5f}")
    print("\nstep response: how far each error goes beyond its goal [m, rad]")
    for name, row in found["step_response"].items():
        print(
            f"  {name:14}" + "".join(f"{v:9.4f}" for v in row["overshoot"]) + f"   left at most {max(row['left']):.2g}"
        )
    print("\nsquare, corner to corner: path over straight line, sideways mm, turned rad, steps to a millimetre")
    for name, row in found["square"].items():
        worst = (max(row[key]) * scale for key, scale in (("length", 1), ("deviation", 1e3), ("turned", 1)))
        print(f"  {name:14}" + "".join(f"{v:10.4f}" for v in worst) + f"{max(row['steps']):8}")
    print("\nsquare at 0.2 m/s: gain, mean mm, most mm, peak rad/s²")
    for row in found["moving_square"]["gains"]:
        print(
            f"{row['gain']:8g}{1e3 * row['error_mean_m']:10.3f}{1e3 * row['error_max_m']:10.3f}"
            f"{row['peak_acceleration']:10.1f}"
        )


EXPERIMENT = Experiment(run=run, show=show, parameters={"seed": (0, 0), "samples": (SAMPLES, SAMPLES)})
