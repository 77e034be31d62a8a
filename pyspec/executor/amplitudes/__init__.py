"""Models with amplitudes that are free at each energy or each time, solved for at every step."""

from pyspec.executor.amplitudes.executor import AmplitudesExecutor

__all__ = ["AmplitudesExecutor"]
