"""`one_step.py LIBRARY CASE_FOLDER VARIANT`: one differential step a frame, as a live tracker takes it.

Prints each step's microseconds.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import process_time

from stepping import load


def main() -> None:
    """Follow the case and print."""
    library, folder, variant = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    case, targets = load(folder)
    if library == "mink":
        from mink_runner import Mink as Made
    else:
        from pink_runner import Pink as Made
    peer, times = Made(folder, case, targets, variant), []
    for k in range(case["frames"]):
        begin = process_time()
        peer.aim(k)
        peer.step()
        times.append(1e6 * (process_time() - begin))
    print(json.dumps(times))


if __name__ == "__main__":
    main()
