"""Many recordings onto one robot: a pool of processes, a table of quality, and a way to go on after a stop."""

from .run import run_batch

__all__ = ["run_batch"]
