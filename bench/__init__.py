"""Benchmarks: ratios taken in one run, interleaved, medians. Run from the source tree."""
