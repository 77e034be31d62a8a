"""Formulas as programs: values, derivatives, fused instructions, registers, listings."""
