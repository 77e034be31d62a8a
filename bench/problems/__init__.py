"""What the benchmarks fit: models, data, starts, and texts of formulas."""
