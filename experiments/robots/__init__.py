"""Scripts that draw the robots that ship.

`python -m experiments.robots.walker` writes robik/data/robots/walker.robik.json.
"""
