"""From the configuration's words to the parts that answer: one module a role."""
