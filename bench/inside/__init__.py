"""For developers: one part of the package at a time."""
