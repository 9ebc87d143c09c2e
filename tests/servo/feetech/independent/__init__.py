"""An independent chain of Feetech servos behind a pseudo-terminal, to play against in tests.

Nothing here imports the project or the vendor's SDK. Protocol, control table and what the servos do are written from
Feetech's memory table of the STS3215 (V3.6), the sheet of the STS3215-C018, and what users measured: a goal position
turns torque on, and ends an overload. Log, port, horn, line faults and the process are those of the independent
Dynamixel chain, which shares nothing with the project either.

- `wire`: packets. `table`: the control table. `servo`: one servo. `bus`: instructions and answers.
- `server`: the process. `chain`: the test's handle on it.
"""

from .chain import FeetechChain

__all__ = ["FeetechChain"]
