"""Colours of the plots, and the files that they are drawn into."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from experiments.experiment import Found, tell

COLORS = ("#d9480f", "#1971c2", "#2f9e44", "#862e9c")
FOLDER = "out/plots"


def save(plots: Mapping[str, Callable[[], Figure]], folder: str) -> Found:
    """Draw plots into PNG files of a folder; return `{"files": [...]}`."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    plt.rcParams.update({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False})
    files = []
    for name, draw in plots.items():
        tell(f"plots: {name}")
        figure = draw()
        files.append(str(place / f"{name}.png"))
        figure.savefig(files[-1], dpi=110, bbox_inches="tight", metadata={"Software": None})
        plt.close(figure)
    return {"files": files}


def show(found: Found) -> None:
    """Print the files that were drawn."""
    print("\n".join(found["files"]))
