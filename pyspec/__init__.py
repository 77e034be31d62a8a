"""pyspec."""
