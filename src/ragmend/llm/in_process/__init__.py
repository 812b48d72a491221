"""A language model in this process, by transformers and torch (the extra `[local]`)."""
