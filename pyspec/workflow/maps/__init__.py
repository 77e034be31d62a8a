"""The same model fitted to every spectrum of a map, block by block, written as it goes."""

from pyspec.workflow.maps.fit import fit_map

__all__ = ["fit_map"]
