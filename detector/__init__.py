"""Find hallucinated answers: recorded predictions of anybody, and the embedded detector."""
