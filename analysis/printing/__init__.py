"""How tables and notes become text and files."""
