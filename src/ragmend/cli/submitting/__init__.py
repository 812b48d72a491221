"""Submitting an experiment as jobs of a cluster, and looking after them."""
