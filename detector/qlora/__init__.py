"""A causal language model, fine-tuned with an adapter, that writes its verdict as JSON."""
