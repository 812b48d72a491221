"""The prompt of the generative detector."""
