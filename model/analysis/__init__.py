"""What a trace says about a model, and what happens to it when something is done wrong."""
