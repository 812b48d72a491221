"""What every trained detector shares: the split, choosing, health, ledger, card."""
