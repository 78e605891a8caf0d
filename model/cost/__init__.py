"""What a model costs: parameters, floating-point operations, bytes, and how long they take on a machine."""

from model.cost.complexity import LayerKind, complexity
from model.cost.counts import (
    attention_bytes,
    cache_bytes,
    flops,
    flops_by_part,
    flops_of_source,
    flops_of_token,
    flops_of_writing,
    learned_positions,
    memory_by_part,
    of_attention,
    of_feed_forward,
    of_norm,
    parameters,
    parameters_by_part,
)
from model.cost.layer import Work, crossing, fused_bytes, layer_flops, prefill, square_share, step
from model.cost.machines import PRECISIONS, Machine, RefusedMachineError, Roof, checked_machine, machines, number_of, roof
from model.cost.paper import Printed, Training, table_3, training
from model.cost.public_models import PublicModel, public_models

__all__ = [
    "PRECISIONS",
    "LayerKind",
    "Machine",
    "Printed",
    "PublicModel",
    "RefusedMachineError",
    "Roof",
    "Training",
    "Work",
    "attention_bytes",
    "cache_bytes",
    "checked_machine",
    "complexity",
    "crossing",
    "flops",
    "flops_by_part",
    "flops_of_source",
    "flops_of_token",
    "flops_of_writing",
    "fused_bytes",
    "layer_flops",
    "learned_positions",
    "machines",
    "memory_by_part",
    "number_of",
    "of_attention",
    "of_feed_forward",
    "of_norm",
    "parameters",
    "parameters_by_part",
    "prefill",
    "public_models",
    "roof",
    "square_share",
    "step",
    "table_3",
    "training",
]
