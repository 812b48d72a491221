"""Answers put together again from what became of their claims."""
