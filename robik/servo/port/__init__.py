"""Owner of a port, in a thread or a process of its own: sessions, streams of goals, requests from outside."""
