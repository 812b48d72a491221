"""Stages that are answered in parts, each by a process of its own, and folded together."""
