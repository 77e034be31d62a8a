"""Tables of numbers in text: where they begin, where lines are cut, what the columns mean."""
