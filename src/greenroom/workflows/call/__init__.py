"""Finding and calling workflows: discovery, clients, streams, conversations."""
