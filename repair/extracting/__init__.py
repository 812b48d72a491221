"""Fragments of a source as statements that can stand in an answer, or why they cannot."""
