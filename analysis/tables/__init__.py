"""The tables of an analysis, one function each; recipes.py lists them in report order."""
