"""Contacts of the feet, and the target of the centre of mass."""
