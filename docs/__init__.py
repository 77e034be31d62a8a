"""The documentation, and what makes the generated pages: ``python -m docs.build``."""
