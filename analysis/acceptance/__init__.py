"""Published numbers beside ours: where each stands in our tables, and whether it comes out."""
