"""What is not well formed in a repaired answer; an independent check of assembly."""
