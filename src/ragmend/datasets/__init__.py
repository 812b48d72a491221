"""Data sets as records: RAGTruth's official schema, and the built-in demonstration set."""
