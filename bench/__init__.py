"""Benchmarks: ratios taken in one run, interleaved, medians. Run from the source tree.

`inside` times one part of the package at a time, `peers` runs other packages, `problems` holds
what is fitted.
"""
