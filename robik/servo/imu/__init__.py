"""Sensors of tilt beside the bus or on it: what they are, what they say, and how it goes to the goals.

mount     which sensor, on which port or with which id, how it sits on which body
protocols what the bytes of a sensor on a port of its own say
boards    where boards on the servos' bus say it
tilt      readings, and which of them can be true
reader    an open port with a sensor behind it
on_bus    a board that is asked between goals
righting  its readings, and the law that turns them into changes of the goals
"""
