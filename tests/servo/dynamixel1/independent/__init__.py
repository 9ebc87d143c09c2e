"""An independent chain of Dynamixel servos of Protocol 1.0 behind a pseudo-terminal, to play against in tests.

Nothing here imports the project or the vendor's SDK. Control tables and what the servos do are written from ROBOTIS's
e-Manual: "Protocol 1.0", AX-12A, AX-18A, RX-28, EX-106+ and MX-28 (Protocol 1.0). It says nothing of torque that a goal
turns on; so it does not here, while it does on the project's own simulated servos. Packets, log, port, horn, line
faults and the process are those of the other independent chains, which share nothing with the project either.

- `table`: the control tables. `servo`: one servo. `bus`: instructions and answers.
- `server`: the process. `chain`: the test's handle on it.
"""

from .chain import Dynamixel1Chain

__all__ = ["Dynamixel1Chain"]
