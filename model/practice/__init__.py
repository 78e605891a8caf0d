"""Models trained on the spot: a small task, sizes and switches within limits, in a minute."""
