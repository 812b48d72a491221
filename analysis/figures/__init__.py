"""The figures of an analysis, drawn from finished tables."""
