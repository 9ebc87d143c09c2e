"""RobIK beside a retargeter that people use: mink with the two stages and the weights that GMR publishes, on G1.

`make peers-retargeting` installs mink and runs the comparison. The human's bodies are handed to mink as arrays
(`human`), which follows them in an environment of its own (`two_stages`, which knows nothing of RobIK); RobIK retargets
the recording with default settings. MuJoCo judges both from the joints alone, by code that neither of them uses
(`judge`).
"""
