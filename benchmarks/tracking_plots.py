"""Draws the plots of docs/tracking.md: `python -m benchmarks.tracking_plots`."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from benchmarks.plots import COLORS, FOLDER
from robik.bench.priorities import DT, KNEE, Contacts, reach_for_three


def main() -> None:
    """Draws."""
    plt.rcParams.update({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False})
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.1), width_ratios=(1, 1, 1.1, 1.1))
    equal, ordered = reach_for_three((1.0, 1.0, 1.0)), reach_for_three((1e4, 1e2, 1.0))
    _pose(axes[0], equal, "equal weights: none is touched")
    _pose(axes[1], ordered, "weights 10⁴, 10², 1: in that order")
    times = DT * np.arange(1, len(equal.error) + 1)
    for k, name in enumerate(("10⁴", "10²", "1")):
        axes[2].semilogy(times, 1e3 * ordered.error[:, k], color=COLORS[k], label=name)
        axes[3].semilogy(times, np.maximum(equal.knees[:, k] - KNEE[0], 1e-9), color=COLORS[k], lw=5 - 2 * k, label=f"knee {k + 1}")
    axes[2].set(title="tips from contacts, by weight [mm]", xlabel="s", xlim=(0, 3))
    axes[3].set(title="knees from their limit [rad]", xlabel="s", xlim=(0, 1.5))
    for ax in axes[2:]:
        ax.grid(alpha=0.25)
        ax.legend(frameon=False, loc="center right", bbox_to_anchor=(1.0, 0.28))
    figure.savefig(FOLDER / "three_contacts.png", dpi=110, bbox_inches="tight", metadata={"Software": None})


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


if __name__ == "__main__":
    main()
