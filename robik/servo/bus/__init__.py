"""Lines of servos: opening, reading, connecting, looking at them between goals, torque off."""
