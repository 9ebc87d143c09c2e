"""Contacts as closures: frames of the robot that stand on the ground or on an object, switched on and off."""
