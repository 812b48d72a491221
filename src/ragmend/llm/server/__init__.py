"""Servers with OpenAI's interface: connecting, asking, reading log-probabilities exactly."""
