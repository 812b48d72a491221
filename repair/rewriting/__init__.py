"""The embedded rewriter: cuts a claim down to what its source states."""
