"""Several files with parameters in common, fitted together."""
