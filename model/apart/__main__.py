"""`python -m model.apart NICENESS`: answers the lines of its standard input until it ends."""

import os
import sys

import torch

from model.apart import serve

os.nice(int(sys.argv[1]))
torch.set_num_threads(1)
serve(sys.stdin, sys.stdout)
