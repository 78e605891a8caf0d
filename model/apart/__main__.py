"""`python -m model.apart`: answers the lines of its standard input until it ends."""

import os
import sys

import torch

from model.apart import serve

NICENESS = 5  # before trainings, which have 10; after pages, which have 0

os.nice(NICENESS)
torch.set_num_threads(1)
serve(sys.stdin, sys.stdout)
