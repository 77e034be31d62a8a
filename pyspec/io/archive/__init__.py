"""Archives of fits: one HDF5 file each, written whole, checked before it is read."""
