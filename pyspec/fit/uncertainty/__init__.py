"""Intervals by profile likelihood, and samples of the posterior."""
