"""RobIK beside today's IK libraries: mink, pink and PlaCo, on the same robots, targets and tolerance.

`make peers` installs the libraries, each into an environment of its own (`experiments/peers/environments`), and runs
the comparison. RobIK hands them folders with the robot as MJCF and URDF and the targets as arrays (`handover`); a
script per library follows them there (`mink_runner`, `pink_runner`, `placo_runner`, which know nothing of RobIK); what
comes back are the bodies' poses, and the reference's equations judge all alike (`judge`).
"""
