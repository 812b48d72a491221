"""Benchmarks of what must be fast, light and linear; run by `make bench`, never by a test."""
