"""Structured fields in words."""
