"""`python -m model.alignment`: whole corpora aligned from the command line, by the code that the studio uses."""
