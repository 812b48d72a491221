"""The sections of a configuration: frozen, strict, every key documented."""
