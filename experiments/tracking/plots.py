"""The plots of docs/tracking.md and docs/tracking-experiments.md."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.drawing import COLORS, FOLDER, save, show
from experiments.experiment import Experiment, Found, together
from experiments.tracking import scherzinger, scherzinger_plots, solvers
from experiments.tracking.contacts import DT, KNEE, Contacts, reach_for_three

ARMS = {"two_link": "two links", "arm7": "seven hinges", "ur10": "UR10"}
CLOSED_FORMS = {name for own in solvers.CLOSED.values() for name in own}

MEASURED = together(scherzinger.EXPERIMENT, solvers.EXPERIMENT)


def run(folder: str = FOLDER, found: str = "", **sizes: float) -> Found:
    """Draw every plot into a folder, from a result file of `tracking --json`; measure here if that is empty.

    `sizes` are parameters of the measurement.
    """
    result = json.loads(Path(found).read_text(encoding="utf-8")) if found else MEASURED.run(**sizes)
    drawn = {
        name: getattr(scherzinger_plots, name) for name in ("mappings", "step_response", "square", "moving_square")
    }
    plots = {f"tracking_{name}": partial(draw, result[name]) for name, draw in drawn.items()}
    return save(
        {**plots, "three_contacts": _contacts, "tracking_solvers": partial(_solvers, result["solvers"])}, folder
    )


def _solvers(rows: list[Found]) -> Figure:
    """Return a mark per arm and solver.

    How often it reaches, how long that takes, how smooth it is, and how calm at the singularity.
    """
    known = list(dict.fromkeys(row["solver"] for row in rows))
    names = sorted(known, key=lambda name: (name not in CLOSED_FORMS, known.index(name)))
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.1), sharey=True)
    for color, (arm, label) in zip(COLORS, ARMS.items(), strict=False):
        of_arm = [row for row in rows if row["robot"] == arm]
        at = [names.index(row["solver"]) for row in of_arm]
        for ax, key, scale in zip(
            axes, ("success", "ms", "path_acceleration", "singular_speed"), (100, 1, 1, 1), strict=True
        ):
            ax.plot([scale * row[key] for row in of_arm], at, "o", color=color, ms=5, alpha=0.8, label=label)
    for ax, title in zip(
        axes, ("reached [%]", "ms per target", "circle: peak rad/s²", "pulled straight: peak rad/s"), strict=True
    ):
        ax.set(title=title, xscale="log" if ax in (axes[1], axes[3]) else "linear")
        ax.grid(alpha=0.25)
    axes[0].set_yticks(range(len(names)), names)
    axes[0].invert_yaxis()
    axes[2].legend(frameon=False, loc="upper right")
    return figure


def _contacts() -> Figure:
    """Return three limbs between contacts of which two can be touched."""
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.1), width_ratios=(1, 1, 1.1, 1.1))
    equal, ordered = reach_for_three((1.0, 1.0, 1.0)), reach_for_three((1e4, 1e2, 1.0))
    _pose(axes[0], equal, "equal weights: none is touched")
    _pose(axes[1], ordered, "weights 10⁴, 10², 1: in that order")
    times = DT * np.arange(1, len(equal.error) + 1)
    for k, name in enumerate(("10⁴", "10²", "1")):
        axes[2].semilogy(times, 1e3 * ordered.error[:, k], color=COLORS[k], label=name)
        axes[3].semilogy(
            times, np.maximum(equal.knees[:, k] - KNEE[0], 1e-9), color=COLORS[k], lw=5 - 2 * k, label=f"knee {k + 1}"
        )
    axes[2].set(title="tips from contacts, by weight [mm]", xlabel="s", xlim=(0, 3))
    axes[3].set(title="knees from their limit [rad]", xlabel="s", xlim=(0, 1.5))
    for ax in axes[2:]:
        ax.grid(alpha=0.25)
        ax.legend(frameon=False, loc="center right", bbox_to_anchor=(1.0, 0.28))
    return figure


def _pose(ax: Axes, out: Contacts, title: str) -> None:
    """Start and end of the limbs, and the contacts."""
    for step, shade in ((0, 0.25), (-1, 1.0)):
        hub = out.path[step, :, 0]
        ax.fill(hub[:, 0], hub[:, 1], color="#495057", alpha=0.5 * shade)
        for k in range(3):
            ax.plot(*out.path[step, k, :, :2].T, "-o", color=COLORS[k], alpha=shade, lw=2, ms=3)
    ax.plot(*out.contacts[:, :2].T, "x", color="black", ms=9, mew=1.5)
    ax.set(title=title, aspect="equal", xticks=[], yticks=[])
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)


EXPERIMENT = Experiment(
    run=run, show=show, parameters={"folder": (FOLDER, FOLDER), "found": ("", ""), **MEASURED.parameters}
)
