"""The version, and nothing else: read by the build and by the package."""

VERSION = "0.1.0"
