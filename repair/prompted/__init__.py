"""Verifier and rewriter played by a language model."""
