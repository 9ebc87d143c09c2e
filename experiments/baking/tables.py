"""All that is measured of baking, in one result."""

from experiments.baking import cases, compiling, frame_rates, growth, memory
from experiments.experiment import together

EXPERIMENT = together(*(part.EXPERIMENT for part in (cases, frame_rates, growth, compiling, memory)))
