"""The plots of Scherzinger's four experiments."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from experiments.drawing import COLORS
from experiments.experiment import Found
from experiments.tracking.scherzinger import CENTRE, CORNERS, MAPPINGS

AXES = ("x", "y", "z", "about x", "about y", "about z")
NAMES = {
    "transpose": "Jacobian transpose",
    "even": "mass in every link",
    "end_effector": "mass in the end effector",
    "twin": "forward dynamics",
}


def mappings(found: Found) -> Figure:
    """As Fig. 4: mean, variance and standard deviation of the three mappings, one scale per row."""
    figure, grid = plt.subplots(3, 3, figsize=(6.6, 6.2), layout="constrained")
    for row, (key, title) in zip(
        grid, (("mean", "mean"), ("variance", "variance"), ("deviation", "standard deviation")), strict=True
    ):
        values = [np.array(found[name][key]) for name in MAPPINGS]
        top = max(float(np.abs(v).max()) for v in values[:2])
        for axes, name, value in zip(row, MAPPINGS, values, strict=True):
            axes.imshow(np.abs(value), cmap="Blues", vmin=0, vmax=top)
            for i, j in np.ndindex(6, 6):
                if abs(value[i, j]) >= 0.005:
                    color = "white" if abs(value[i, j]) > 0.6 * top else "0.2"
                    axes.text(j, i, f"{value[i, j]:.2f}", ha="center", va="center", fontsize=5.5, color=color)
            axes.set_xticks([])
            axes.set_yticks([])
            if key == "mean":
                axes.set_title(NAMES[name], fontsize=8)
        row[0].set_ylabel(title)
    return figure


def step_response(found: Found) -> Figure:
    """As Fig. 5: the six errors over the iterations."""
    figure, grid = plt.subplots(2, 3, figsize=(7.0, 3.6), sharex=True, layout="constrained")
    for k, axes in enumerate(grid.flat):
        for name, color in (("transpose", COLORS[0]), ("twin", COLORS[1])):
            axes.plot(np.array(found[name]["errors"])[:, k], color=color, label=NAMES[name])
        axes.axhline(0.0, color="0.5", linewidth=0.6)
        axes.set_title(AXES[k], fontsize=8)
        axes.set_ylabel("m" if k < 3 else "rad")
    for axes in grid[1]:
        axes.set_ylim(-0.9, 0.9)
        axes.set_xlabel("iterations")
    grid[0, 0].legend(frameon=False, fontsize=7)
    return figure


def square(found: Found) -> Figure:
    """As Fig. 7: from each corner to the next; a dot every step."""
    figure, pair = plt.subplots(1, 2, figsize=(6.6, 3.4), sharey=True, layout="constrained")
    for axes, name, color in zip(pair, ("transpose", "twin"), COLORS, strict=False):
        axes.plot(*np.vstack([CORNERS, CORNERS[:1]]).T, color="0.8", linewidth=1.0)
        for path in np.array(found[name]["paths"]):
            away = path - CENTRE
            axes.plot(away[:, 1], away[:, 2], ".", color=color, markersize=2.5)
        axes.set_title(NAMES[name], fontsize=8)
        axes.set_aspect("equal")
        axes.set_xlabel("y, m")
    pair[0].set_ylabel("z, m")
    return figure


def moving_square(found: Found) -> Figure:
    """As Fig. 8: a corner of the square by gain, and error against acceleration."""
    figure, (corner, trade) = plt.subplots(1, 2, figsize=(6.8, 3.0), layout="constrained")
    shades = plt.get_cmap("viridis")(np.linspace(0.85, 0.0, len(found["gains"])))
    corner.plot(*(np.array(found["target"])[:, 1:] - CENTRE[1:]).T, "--", color="0.6", linewidth=1.0, label="target")
    for row, shade in zip(found["gains"], shades, strict=True):
        corner.plot(
            *(np.array(row["path"])[:, 1:] - CENTRE[1:]).T, color=shade, linewidth=1.0, label=f"gain {row['gain']:g}"
        )
        trade.plot(1e3 * row["error_mean_m"], row["peak_acceleration"], "o", color=shade)
        trade.annotate(
            f"{row['gain']:g}",
            (1e3 * row["error_mean_m"], row["peak_acceleration"]),
            xytext=(5, 3),
            textcoords="offset points",
        )
    corner.set_xlim(0.17, 0.205)
    corner.set_ylim(0.17, 0.205)
    corner.set_aspect("equal")
    corner.set_xticks([0.17, 0.18, 0.19, 0.20])
    corner.set_yticks([0.17, 0.18, 0.19, 0.20])
    corner.set_xlabel("y, m")
    corner.set_ylabel("z, m")
    corner.legend(frameon=False, fontsize=7)
    trade.set_xscale("log")
    trade.set_ylim(0, 58)
    trade.set_xlim(0.08, 12)
    trade.set_xlabel("mean tracking error, mm")
    trade.set_ylabel("peak joint acceleration, rad/s²")
    return figure
