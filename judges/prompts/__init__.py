"""The prompt of all judges."""
