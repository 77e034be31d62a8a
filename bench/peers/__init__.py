"""Other packages at the same problems."""
