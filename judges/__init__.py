"""Judges of complete answers, and their panel; they see source, question and answer only."""
