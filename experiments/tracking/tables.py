"""All experiments on live solvers, in one result."""

from experiments.experiment import together
from experiments.tracking import contacts, dragging, following, live, scherzinger, solvers

EXPERIMENT = together(*(part.EXPERIMENT for part in (scherzinger, contacts, live, following, dragging, solvers)))
