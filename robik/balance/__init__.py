"""Balance: the plan of the weight over what stands, and what motors give way by."""
