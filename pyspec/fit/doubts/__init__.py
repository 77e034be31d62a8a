"""What to doubt in a fit, from its start to its end: sentences that its result says as cautions."""
