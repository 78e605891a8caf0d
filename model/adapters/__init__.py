"""What others bring: models of Hugging Face and attention matrices from files, as traces like those of our own models."""
