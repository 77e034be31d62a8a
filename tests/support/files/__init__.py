"""Files of all formats, as tests write them."""
