"""Teaching by hand: recordings of hand-moved robots, and one robot that leads another."""
