"""What fits find out about themselves: each kind, the checks that find it, and how it is shown."""
