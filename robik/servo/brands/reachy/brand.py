"""Motors of Reachy Mini behind its maker's daemon, as chains know them.

They are the servos of its bus, spoken to through a program that has that bus. It takes and gives angles, so that their
counts are this module's own: fine enough to be no limit.
"""

from __future__ import annotations

from math import tau

from ..brand import Brand, ServoModel

NAME = "reachy"
HOST, PORT = "localhost", 8000  # where the daemon listens if nobody says
MODEL = "Reachy Mini"
COUNTS_PER_TURN = 2**20
MIDDLE = COUNTS_PER_TURN // 2
VELOCITY_UNIT = tau / COUNTS_PER_TURN  # [rad/s]: a count a second
FASTEST = 40.1  # [rad/s], without load: the XL330-M077 of its antennas
HEAD_MOTORS = {10: "yaw_body", **{10 + k: f"stewart_{k}" for k in range(1, 7)}}  # by id, as the daemon lists them
ANTENNA_MOTORS = {17: "right_antenna", 18: "left_antenna"}
MOTORS = HEAD_MOTORS | ANTENNA_MOTORS

REACHY = Brand(
    name=NAME,
    title="Reachy",
    models={
        MODEL: ServoModel(
            name=MODEL,
            counts_per_turn=COUNTS_PER_TURN,
            centre=MIDDLE,
            farthest=2 * COUNTS_PER_TURN,
            velocity_unit=VELOCITY_UNIT,
            factory_velocity=FASTEST,
            highest_velocity=FASTEST,
            max_speed=FASTEST,
        )
    },
    default_model=MODEL,
    baud_rates=(),
    streaming_baud=0,
    likely_bauds=(),
    goal_bytes=(0, 0),
    speed_bytes=0,
    look_bytes=0,
    waking=0.0,
    has_watchdog=False,
    unguarded="does not get its goals: the daemon plays a move of its own",
    scheme=f"{NAME}:",
    usual_port=f"{NAME}:{HOST}:{PORT}",
)
