"""What makes the generated pages: one file for each."""
