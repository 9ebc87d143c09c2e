"""Robot files: importing them, and reading them again."""
