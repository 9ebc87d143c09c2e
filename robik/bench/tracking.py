"""`robik bench tracking`: the experiments of the papers on live solvers, on this machine, now, on one core."""

from __future__ import annotations

from typing import Any

import numpy as np

from robik.bench import dragging, following, lee, priorities, scherzinger
from robik.bench.live import live


def run(seed: int = 0, targets: int = lee.TARGETS, samples: int = scherzinger.SAMPLES, hours: float = 1.0) -> dict[str, Any]:
    """Measures everything, reproducibly but for the times.

    Args:
        targets: how many random ones for each solver.
        samples: random configurations for the mappings.
        hours: how long loops are dragged at 60 Hz.
    """
    mappings = scherzinger.mappings(seed, samples)
    factor = mappings["scaling_factor"]
    found = {
        "seed": seed,
        "scaling_factor": factor,
        "mappings": mappings,
        "step_response": scherzinger.step_response(factor),
        "square": scherzinger.square(factor),
        "moving_square": scherzinger.moving_square(),
        "contacts": priorities.contacts(),
        "live": live(seed),
        "following": list(following.following(seed)),
        "dragging": list(dragging.dragging(seed, hours)),
        "solvers": lee.solvers_table(seed, targets),
    }
    return plain(found)


def plain(value: Any) -> Any:
    """Arrays as lists, for JSON."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def print_tables(found: dict[str, Any]) -> None:
    """Prints what `run` measured."""
    print(f"scaling factor (eq. 19): {found['scaling_factor']:.4f}; in the paper {scherzinger.PAPER_FACTOR}")
    print("\nmappings f → ẍ of the UR10: mean of the diagonal, of the variances on it, largest mean beside it")
    for name in scherzinger.MAPPINGS:
        mean, variance = (np.array(found["mappings"][name][key]) for key in ("mean", "variance"))
        beside = np.abs(mean - np.diag(np.diag(mean))).max()
        print(f"  {name:14}{np.diag(mean).mean():10.4f}{np.diag(variance).mean():10.4f}{beside:12.5f}")
    print("\nstep response: how far each error goes beyond its goal [m, rad]")
    for name, row in found["step_response"].items():
        print(f"  {name:14}" + "".join(f"{v:9.4f}" for v in row["overshoot"]) + f"   left at most {max(row['left']):.2g}")
    print("\nsquare, corner to corner: path over straight line, sideways mm, turned rad, steps to a millimetre")
    for name, row in found["square"].items():
        worst = (max(row[key]) * scale for key, scale in (("length", 1), ("deviation", 1e3), ("turned", 1)))
        print(f"  {name:14}" + "".join(f"{v:10.4f}" for v in worst) + f"{max(row['steps']):8}")
    print("\nsquare at 0.2 m/s: gain, mean mm, most mm, peak rad/s²")
    for row in found["moving_square"]["gains"]:
        print(f"{row['gain']:8g}{1e3 * row['error_mean_m']:10.3f}{1e3 * row['error_max_m']:10.3f}{row['peak_acceleration']:10.1f}")
    print("\nthree contacts where two are possible: weights, distance of each tip mm, knees' least room to their limits rad")
    for row in found["contacts"]:
        weights, tips = (" ".join(f"{scale * v:9.3g}" for v in row[key]) for key, scale in (("weights", 1), ("error_m", 1e3)))
        print(f"  {weights}   {tips}{row['room_rad']:10.2g}")
    print("\nUR10, live: samples Hz, delay ms, error mm, peak speed and acceleration by their limits, steps at it")
    for row in found["live"]:
        kept = f"{row['speed']:8.2f}{row['acceleration']:8.3f}{row['at_limit']:8.0%}"
        print(f"  {row['tracker']:18}{row['rate']:5g}{1e3 * row['delay_s']:8.0f}{1e3 * row['error_m']:8.1f}{kept}")
    print(
        "\nfollowed at 60 Hz: mean mm, worst, in the end, delay ms, mean without it, speed, acceleration by their limits, steps beyond, ms"
    )
    for row in found["following"]:
        off = "".join(f"{1e3 * row[key]:9.3f}" for key in ("error_m", "worst_m", "left_m"))
        asked = f"{row['speed']:8.2f}{row['acceleration']:8.2f}{row['too_much']:8.0%}{row['ms']:9.3f}"
        print(f"  {row['motion']:16}{row['tracker']:18}{off}{1e3 * row['delay_s']:6.0f}{1e3 * row['shape_m']:9.3f}{asked}")
    print("\ndragged at random: steps, worst closure m, all joints' by the reference's rows m, couplings' rad, motors' way rad, ms a step")
    for row in found["dragging"]:
        measured = f"{row['residual']:10.1g}{row['judged']:10.1g}{row['coupled']:10.1g}{row['travelled']:10.0f}{row['ms']:9.3f}"
        print(f"  {row['robot']:12}{row['tracker']:24}{row['steps']:9}{measured}")
    print("\n" + " " * 32 + "".join(f"{title:>14}" for _, title, _ in lee.COLUMNS))
    for row in found["solvers"]:
        print(f"  {row['robot']:9}{row['solver']:21}" + "".join(f"{show(row[key]):>14}" for key, _, show in lee.COLUMNS))
