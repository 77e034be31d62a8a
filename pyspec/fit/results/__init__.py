"""What fits return: values, errors, curves and tables."""
