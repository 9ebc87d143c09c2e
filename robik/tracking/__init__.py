"""Solvers for targets that arrive live: one interface, `Tracker.step(targets, dt)`, on any mechanism."""

from .differential import DifferentialSettings, DifferentialTracker, RelativeTarget
from .feed import FeedSettings, Health
from .forward_dynamics import ForwardDynamicsTracker, TwinSettings
from .live import Live
from .state_based import StateBasedTracker
from .targets import Target, Targets
from .tracker import Tracker

__all__ = [
    "DifferentialSettings",
    "DifferentialTracker",
    "FeedSettings",
    "ForwardDynamicsTracker",
    "Health",
    "Live",
    "RelativeTarget",
    "StateBasedTracker",
    "Target",
    "Targets",
    "Tracker",
    "TwinSettings",
]
