"""A motion played on twelve simulated servos: connect, check, torque on, play, torque off.

With a real chain, name its port instead of `SIMULATED`; or from the shell:
`robik play MOTION.csv --servos CHAIN.servos.json --port sim`.
"""

import numpy as np

import robik
from robik.robots import servos_path
from robik.servo.chain.file import load_chain
from robik.servo.play.player import Player
from robik.servo.port.status import PlayState
from robik.servo.port.thread import SIMULATED

robot, chain = robik.load("walker"), load_chain(servos_path("walker"))
times = np.arange(51) / 50
rest = np.concatenate([joint.rest for joint in robot.actuated])
knee = robot.actuators.index("knee_l")
values = np.tile(rest, (len(times), 1))
values[:, knee] += 0.2 * np.sin(np.pi * times) ** 2
motion = robik.Motion(times=times, actuators=robot.actuators, values=values)

player = Player(chain, SIMULATED)
player.preflight(motion).check()  # limits and speeds, before anything is connected
player.connect()
try:
    print(player.wait(PlayState.READY).message)
    player.check(motion)
    player.torque(True)
    player.wait(PlayState.HOLDING)
    player.play(motion)
    player.wait(PlayState.PLAYING)
    print(player.wait(PlayState.HOLDING).message)
    player.torque(False)
    player.wait(PlayState.READY)
    print(f"torque is {'on' if player.status.torque else 'off'}")
finally:
    player.close()
