"""Data that stay where they are: HDF5, zarr, dask, xarray and memory-mapped arrays."""
