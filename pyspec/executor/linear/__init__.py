"""Models with amplitudes that are free at each energy or each time, solved for at every step."""

from pyspec.executor.linear.executor import LinearExecutor

__all__ = ["LinearExecutor"]
