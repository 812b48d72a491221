"""The report of what exists, of a run that is not finished: what is missing stands at its head."""
