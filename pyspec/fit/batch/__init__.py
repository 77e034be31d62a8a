"""Many fits of one model: what they share, where they run, and how one came to its end."""
