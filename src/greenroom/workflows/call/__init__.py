"""Finding and calling workflows: discovery, targets, clients, chat sessions."""
