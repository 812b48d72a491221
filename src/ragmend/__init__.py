"""ragmend: find unsupported statements in retrieval-augmented answers and repair them."""

__version__ = "0.1.0"
