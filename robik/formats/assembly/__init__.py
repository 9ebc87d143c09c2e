"""From a robot as files store it, a tree with open loops, to a mechanism in an assembled rest pose.

All formats share it.
"""
