"""The embedded verifier: P(support) without a language model, from curves in readable JSON."""
