"""What the tests of the builder share: sessions, its server, and a browser."""
