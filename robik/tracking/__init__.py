"""Solvers for targets that arrive live: one interface, `Tracker.step(targets, dt)`, on any mechanism."""

from robik.tracking.state_based import StateBasedTracker
from robik.tracking.targets import Target, Targets
from robik.tracking.tracker import Tracker

__all__ = ["StateBasedTracker", "Target", "Targets", "Tracker"]
