"""The catalogue of the experiments: each name with its module and one line."""

from __future__ import annotations

from importlib import import_module

from experiments.experiment import Experiment

CATALOGUE = {
    "baking": (
        "experiments.baking.tables",
        "all that is measured of baking: cases, frame-rates, growth, compiling, memory",
    ),
    "cases": ("experiments.baking.cases", "time per frame, errors and speeds of the paper's experiments (Table I)"),
    "frame-rates": (
        "experiments.baking.frame_rates",
        "time per frame of the dance by the input's frame rate (Fig. 6c)",
    ),
    "growth": ("experiments.baking.growth", "time per frame of chains and crawlers by their number of bodies"),
    "slow-frames": (
        "experiments.baking.slow_frames",
        "the slowest frames of every robot, ours and those of a folder, after targets of all kinds",
    ),
    "humanoids": (
        "experiments.baking.humanoids",
        "humanoids of a folder on a recording, as robik retarget makes them: errors, scale, largest step of a motor",
    ),
    "compiling": (
        "experiments.baking.compiling",
        "seconds to compile the solver with an empty and with a filled cache",
    ),
    "generic-code": (
        "experiments.baking.generic_code",
        "time per frame of compiled code for any CPU, as zips bring it, against code for this CPU, in pairs",
    ),
    "memory": ("experiments.baking.memory", "peak memory of a bake of 12,000 frames"),
    "look-ahead": (
        "experiments.baking.looking_ahead",
        "errors, accelerations and jerks of clips too quick for motors, frame by frame and all frames at once",
    ),
    "held-feet": (
        "experiments.held_feet",
        "slide, penetration, jumps, balance and time of characters on G1, H1 and the walker, feet held (needs Blender)",
    ),
    "poses": (
        "experiments.poses",
        "single poses that robots have: how many solve_pose finds, and when",
    ),
    "hold": (
        "experiments.hold",
        "random paths of looped robots: where motors lose hold, with the bound and without",
    ),
    "plots": ("experiments.baking.plots", "the plots of docs/experiments.md"),
    "tracking": (
        "experiments.tracking.tables",
        "all on live solvers: scherzinger, contacts, live, following, dragging, solvers",
    ),
    "scherzinger": ("experiments.tracking.scherzinger", "forward dynamics against the Jacobian transpose on the UR10"),
    "contacts": (
        "experiments.tracking.contacts",
        "three contacts of which two can be touched: weights as priorities (Caron)",
    ),
    "live": (
        "experiments.tracking.live",
        "delay and error of trackers after samples that come late, unevenly or not at all",
    ),
    "following": (
        "experiments.tracking.following",
        "error, delay and motor load of trackers at 60 steps a second, as in Follow Live",
    ),
    "dragging": (
        "experiments.tracking.dragging",
        "loop closure and time per step of trackers that are dragged at random",
    ),
    "solvers": ("experiments.tracking.solvers", "all solvers on the same arms, targets, path and singularity (Lee)"),
    "tracking-plots": ("experiments.tracking.plots", "the plots of docs/tracking.md and docs/tracking-experiments.md"),
    "quadratic-programs": (
        "experiments.tracking.quadratic_programs",
        "solvers of small quadratic programs, on a differential step's",
    ),
    "streaming": (
        "experiments.streaming",
        "lateness and drops of the goals that are streamed to a simulated chain of servos",
    ),
    "importing": ("experiments.importing", "seconds to import a robot of 130 links with 24 loops, stored open"),
    "throughput": ("experiments.throughput", "time of a bake and of an update while dragging, in Blender"),
    "peers": ("experiments.peers.comparison", "RobIK beside mink, pink and PlaCo (`make peers` installs them)"),
    "peers-retargeting": (
        "experiments.retargeters.comparison",
        "recordings on G1 by RobIK and by mink with GMR's weights (`make peers-retargeting`; needs Blender)",
    ),
    "peers-limits": (
        "experiments.peers.limits",
        "clips too quick for motors, beside mink with limits of speed and acceleration, and mink smoothed",
    ),
    "peers-steps": ("experiments.peers.steps", "time of a live tracker's step beside mink's and pink's"),
}


def load(name: str) -> Experiment:
    """Return an experiment by its name; raise KeyError for an unknown one, ModuleNotFoundError without its package."""
    return import_module(CATALOGUE[name][0]).EXPERIMENT
