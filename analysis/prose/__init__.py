"""What an analysis found, in plain words: every sentence from computed values."""
