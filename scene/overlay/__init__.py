"""What is drawn into the views and editors."""
