"""An encoder that gives each token of an answer P(unsupported)."""
