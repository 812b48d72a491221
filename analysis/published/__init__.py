"""What the papers' texts say, each sentence evaluated by code on the data at hand."""
