"""An independent chain of Dynamixel servos behind a pseudo-terminal, to play against in tests.

Nothing here imports the project or the vendor's SDK. Protocol, control tables, motion and faults are written from the
vendor's e-Manual (emanual.robotis.com; pages "Protocol 2.0", "XH430-W350", "XM430-W350", "XL430-W250", "XL330-M288"),
so that what judges the player does not share its mistakes.

- `wire`: packets. `table`, `registers`: control tables and their values. `motion`: the horn. `servo`: one servo.
- `bus`: instructions and answers. `script`: faults. `log`: what happened, by the chain's own clock.
- `server`: the process, `port`: its pseudo-terminal. `chain`: the test's handle on it.
"""

from .chain import ChainError, IndependentChain
from .log import Goal, Log, Packet, Torque

__all__ = ["ChainError", "Goal", "IndependentChain", "Log", "Packet", "Torque"]
