"""Inverse dynamics through loops: ground forces, zero-moment point and every motor's torque along a motion."""

from .contact_points import ContactPoints
from .inverse import Dynamics, InverseDynamics, inverse_dynamics

__all__ = ["ContactPoints", "Dynamics", "InverseDynamics", "inverse_dynamics"]
