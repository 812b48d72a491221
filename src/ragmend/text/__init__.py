"""What texts are made of, shared by all stages: sentences, words, numbers, names, fragments."""
