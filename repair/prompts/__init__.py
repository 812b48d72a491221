"""The prompts of verifier and rewriter."""
