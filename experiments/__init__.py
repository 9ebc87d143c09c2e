"""Experiments beside the product.

The papers' benches and plots, the oracle, the implicit solver, the scripts that draw the robots, the peers.

`python -m experiments` lists them, `python -m experiments NAME` runs one. They may import all of RobIK; nothing of
RobIK imports them.
"""

from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
