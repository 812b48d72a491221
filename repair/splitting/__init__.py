"""Answers into claims: exact spans, cut by rule."""
