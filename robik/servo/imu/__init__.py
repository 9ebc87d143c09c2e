"""Sensors of tilt beside the bus: what they are, what they say, and how it goes to the goals.

mount     which sensor, on which port, how it sits on which body
protocols what its bytes say
reader    an open port with a sensor behind it
righting  its readings, and the law that turns them into changes of the goals
"""
