"""The plots of docs/experiments.md."""

from __future__ import annotations

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments import held_feet
from experiments.baking import balance_settings, looking_ahead
from experiments.baking.cases import BOXER_LIMIT, BOXER_REGULARIZED
from experiments.baking.clips import singular_clip
from experiments.baking.frame_rates import frame_rates
from experiments.baking.workspace import handle_clip
from experiments.drawing import COLORS, FOLDER, save, show
from experiments.experiment import Experiment, Found, tell
from experiments.implicit import ImplicitSolver
from experiments.robots import four_bar as design
from robik.bench.cases import BALANCED, BOXER, FPS, NAIVE
from robik.bench.walking import walk_clip
from robik.feet.support import margins
from robik.ik.solver import Solver
from robik.mechanism.orientations import quaternion_matrices
from robik.motions import Motion
from robik.retargeting.retarget import Retargeting, retarget
from robik.robots import load


def run(folder: str = FOLDER) -> Found:
    """Draw every plot into a folder."""
    recorded = {"look_ahead_g1": _recorded_dance} if held_feet.FOLDER.is_dir() else {}
    if not recorded:
        tell(f"plots: look_ahead_g1 is left out: there is no folder {held_feet.FOLDER}")
    with plt.rc_context({"axes.grid": True, "grid.alpha": 0.25}):
        return save(
            {
                "balance_settings": balance_settings.figure,
                "four_bar": four_bar,
                "boxer_velocities": boxer,
                "frame_rate": frame_rate,
                "walker_margin": walker,
                "look_ahead_dancer": partial(_looking_ahead, 0),
                "look_ahead_boxer": partial(_looking_ahead, 1),
                "look_ahead_walker": partial(_looking_ahead, 2),
                **recorded,
            },
            folder,
        )


def _looking_ahead(case: int) -> Figure:
    """Draw a case frame by frame and all frames at once."""
    return looking_ahead.figure(looking_ahead.cases(120.0)[case])


def _recorded_dance() -> Figure:
    return looking_ahead.figure(looking_ahead.recorded_dance())


def boxer() -> Figure:
    """Plot joint speeds through the shoulder's singularity (paper, Fig. 7).

    Dotted: without the velocity regularizer. Solid: with it.
    """
    arm, clip = load("boxer"), singular_clip(FPS)
    naive, regularized = (retarget(arm, clip, settings) for settings in (BOXER, BOXER_REGULARIZED))
    figure, (whole, near, error) = plt.subplots(
        3, 1, figsize=(6.4, 5.6), sharex=True, height_ratios=(1.0, 1.4, 0.9), layout="constrained"
    )
    for axes in (whole, near):
        for k, name in enumerate(arm.actuators):
            axes.plot(clip.times, _speed(naive)[:, k], ":", color=COLORS[k], linewidth=1.0)
            axes.plot(
                clip.times, _speed(regularized)[:, k], color=COLORS[k], linewidth=1.2, label=name.replace("_", " ")
            )
    whole.set_ylabel("rad/s")
    near.set_ylabel("rad/s, magnified")
    for bound in (-1, 1):
        near.axhline(bound * BOXER_LIMIT, color="0.5", linewidth=0.8, linestyle="--")
    near.set_ylim(-9, 8)
    near.legend(ncols=4, loc="lower center", frameon=False)
    for motion, style, label in ((naive, ":", "without"), (regularized, "-", "with velocity regularizer")):
        assert motion.report is not None
        error.plot(clip.times, 1e3 * motion.report.position_error[:, 0], style, color="0.2", label=label)
    error.set_ylabel("hand off by, mm")
    error.set_xlabel("s")
    error.legend(loc="upper left", frameon=False)
    return figure


def four_bar() -> Figure:
    """Return the linkage whose handle is led beyond its workspace, by both formulations, as Fig. 5.

    And how far it opens.
    """
    linkage, clip = load("four_bar"), handle_clip(2.6)
    figure = plt.figure(figsize=(6.4, 4.2), layout="constrained")
    grid = figure.add_gridspec(2, 2, height_ratios=(1.2, 1.0))
    open_by, off_by = figure.add_subplot(grid[1, 0]), figure.add_subplot(grid[1, 1])
    ways = ((Solver, COLORS[1], "state-based: assembled"), (ImplicitSolver, COLORS[0], "implicit: in pieces"))
    for column, (formulation, color, label) in enumerate(ways):
        motion = Retargeting(linkage, clip, formulation=formulation).run()
        assert motion.report is not None
        drawing = figure.add_subplot(grid[0, column])
        for frame, alpha in ((0, 0.15), (27, 0.3), (len(clip.times) - 1, 1.0)):
            _draw_linkage(drawing, motion, frame, color, alpha)
        wanted = clip.tracks["handle"].position
        assert wanted is not None
        drawing.plot(1e3 * wanted[:, 0], 1e3 * wanted[:, 2], ":", color="0.4", linewidth=0.8)
        drawing.plot(1e3 * wanted[-1, 0], 1e3 * wanted[-1, 2], "x", color="0.1", markersize=7, markeredgewidth=1.6)
        drawing.set(aspect="equal", xlim=(-115, 230), ylim=(-60, 190), title=label)
        drawing.axis("off")
        open_by.semilogy(clip.times, 1e3 * np.maximum(motion.report.residual, 1e-16), color=color, label=label)
        off_by.plot(clip.times, 1e3 * motion.report.position_error[:, 0], color=color)
    open_by.set(xlabel="s", ylabel="joints open by, mm", ylim=(1e-13, 1e3))
    off_by.set(xlabel="s", ylabel="handle off by, mm")
    open_by.legend(frameon=False, loc="center right")
    return figure


def _draw_linkage(axes: Axes, motion: Motion, frame: int, color: str, alpha: float) -> None:
    """Draw the moving bars from pin to pin, mm, and the ground's bearings."""
    assert motion.position is not None and motion.quaternion is not None
    for bar, length in (("crank", design.CRANK), ("coupler", design.COUPLER), ("rocker", design.ROCKER)):
        b = motion.bodies.index(bar)
        start = motion.position[frame, b]
        ends = 1e3 * np.stack([start, start + length * quaternion_matrices(motion.quaternion[frame, b])[:, 2]])
        axes.plot(
            ends[:, 0], ends[:, 2], "o-", color=color, linewidth=3.5, markersize=7, markerfacecolor="white", alpha=alpha
        )
    ground = motion.position[frame, motion.bodies.index("ground")]
    for x in (0.0, design.GROUND):
        axes.plot(
            1e3 * (ground[0] + x),
            1e3 * (ground[2] + design.HEIGHT),
            "^",
            color="0.25",
            markersize=9,
            alpha=alpha,
            zorder=3,
        )


def _speed(motion: Motion) -> np.ndarray:
    assert motion.report is not None
    return motion.report.velocity


def frame_rate() -> Figure:
    """Time per frame of the dance at several frame rates, as Fig. 6c, and how much of real time that is."""
    rows = frame_rates(load("dancer"))
    rates, times = np.array([r["fps"] for r in rows]), np.array([r["ms_per_frame"] for r in rows])
    figure, axes = plt.subplots(figsize=(4.6, 2.6), layout="constrained")
    axes.loglog(rates, times, "o-", color=COLORS[0], markersize=4, label="dancer")
    axes.loglog(rates, 1e3 / rates, "--", color="0.5", linewidth=0.8, label="real time")
    axes.set_ylim(3e-3, 200)
    axes.set_xlabel("frames per second of the input")
    axes.set_ylabel("ms per frame")
    axes.legend(frameon=False)
    return figure


def walker() -> Figure:
    """Plot the margin of the walker's centre of mass inside its support (paper, Fig. 9).

    Once without a target for it, once with one.
    """
    robot = load("walker")
    figure, axes = plt.subplots(figsize=(6.4, 2.4), layout="constrained")
    for balanced, color, label in (
        (False, COLORS[0], "feet and pelvis"),
        (True, COLORS[2], "feet, pelvis low, centre of mass"),
    ):
        clip = walk_clip(robot, 240.0, balanced)
        motion = retarget(robot, clip, BALANCED if balanced else NAIVE)
        contacts = {name: track.contact for name, track in clip.tracks.items() if track.contact is not None}
        axes.plot(clip.times, 1e3 * margins(robot, motion, contacts), color=color, label=label)
    axes.axhline(0.0, color="0.3", linewidth=0.8)
    axes.set_ylabel("CoM inside its support by, mm")
    axes.set_xlabel("s")
    axes.set_ylim(-30, 95)
    axes.legend(frameon=False, loc="upper center", ncols=2)
    return figure


EXPERIMENT = Experiment(run=run, show=show, parameters={"folder": (FOLDER, FOLDER)})
