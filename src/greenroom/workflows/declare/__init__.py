"""Declaring workflows: decorators, arguments, schemas, and running a handler."""
