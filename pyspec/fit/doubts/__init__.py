"""What to doubt in a fit that has ended: sentences that its result says as cautions."""
