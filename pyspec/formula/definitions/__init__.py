"""What users define by formula: functions, kernels, kinetic schemes, measured responses."""
