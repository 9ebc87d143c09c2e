"""Where a robot's bodies are."""
