"""The same model fitted to every spectrum of a series."""
