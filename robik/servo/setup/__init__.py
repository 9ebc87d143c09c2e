"""Setting up servos: ids, rates, zeros, gains."""
