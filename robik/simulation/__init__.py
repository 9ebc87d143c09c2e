"""The process that simulates a robot in MuJoCo, the only one that loads it.

It imports nothing of the library but what is here and the law of tilt feedback, since it starts for each verdict.

trials     what may be different on the day
simulation a model, and what becomes of it in a trial
sensing    the sensor of tilt in it
rehearsing a motion that is played knot by knot, as a planner says
planner    what changes of the legs' goals keep the robot up
cost       what it does against what it should do
"""

JOB, RECORD = "job.npz", "record.npz"  # files: what is to be simulated, and what the robot did undisturbed
REHEARSED, STOP = "rehearsed.npz", "stop"  # goals and speeds of a rehearsal, and a file that ends it where it is
