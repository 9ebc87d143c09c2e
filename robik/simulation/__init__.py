"""The process that simulates a robot in MuJoCo, the only one that loads it.

It imports nothing of the library but what is here and the law of tilt feedback, since it starts for each verdict.

trials     what may be different on the day
simulation a model, and what becomes of it in a trial
sensing    the sensor of tilt in it
"""

JOB, RECORD = "job.npz", "record.npz"  # files: what is to be simulated, and what the robot did undisturbed
