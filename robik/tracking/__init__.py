"""Solvers for targets that arrive live: one interface, `Tracker.step(targets, dt)`, on any mechanism."""

from robik.tracking.differential import DifferentialSettings, DifferentialTracker, RelativeTarget
from robik.tracking.feed import FeedSettings, Health
from robik.tracking.forward_dynamics import ForwardDynamicsTracker, TwinSettings
from robik.tracking.live import Live
from robik.tracking.state_based import StateBasedTracker
from robik.tracking.targets import Target, Targets
from robik.tracking.tracker import Tracker

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
