"""Small tools at the bottom: files, JSON, caches, wheels, loopback."""
