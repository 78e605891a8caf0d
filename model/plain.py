"""Values as JSON, and back the same to the last bit: what was computed in another process or at another time.

Known are numbers, texts, tuples, lists, mappings, sets, tensors, and frozen dataclasses of this package. Reading makes values
and runs nothing: a dataclass is found by its name among those of `model`.
"""

import base64
import importlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

_PLAIN = (type(None), bool, int, float, str)


def write(value: Any) -> str:
    """One line of JSON. Raises TypeError for a value that is of none of the known kinds."""
    return json.dumps(_written(value), ensure_ascii=False, separators=(",", ":"))


def read(line: str) -> Any:
    """The value of which `write` made this line; ValueError for what it did not make."""
    return _read(json.loads(line))


def _written(value: Any) -> Any:
    if type(value) in _PLAIN:
        return value
    if type(value) is tuple:
        return [_written(part) for part in value]
    if type(value) is list:
        return {"list": [_written(part) for part in value]}
    if isinstance(value, Mapping):
        return {"map": [[_written(key), _written(one)] for key, one in value.items()]}
    if isinstance(value, frozenset):
        return {"set": [_written(part) for part in sorted(value)]}
    if isinstance(value, Tensor):
        array = value.detach().cpu().contiguous().numpy()
        return {"tensor": base64.b64encode(array.tobytes()).decode(), "dtype": array.dtype.str, "shape": list(array.shape)}
    if is_dataclass(value) and not isinstance(value, type) and type(value).__module__.split(".")[0] == "model":
        made = {field.name: _written(getattr(value, field.name)) for field in fields(value) if field.init}
        return {"of": f"{type(value).__module__}:{type(value).__qualname__}", "with": made}
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON; give numbers, texts, tensors, or what is made of them")


def _read(found: Any) -> Any:
    if isinstance(found, list):
        return tuple(_read(part) for part in found)
    if not isinstance(found, dict):
        return found
    match found:
        case {"list": parts}:
            return [_read(part) for part in parts]
        case {"map": pairs}:
            return {_read(key): _read(one) for key, one in pairs}
        case {"set": parts}:
            return frozenset(_read(part) for part in parts)
        case {"tensor": content, "dtype": dtype, "shape": shape}:
            array = np.frombuffer(base64.b64decode(content), dtype=np.dtype(dtype)).reshape(shape)
            return torch.from_numpy(array.copy())
        case {"of": name, "with": made}:
            return _dataclass(name)(**{key: _read(one) for key, one in made.items()})
    raise ValueError(f"no value is written as an object with {sorted(found)}")


def _dataclass(name: str) -> Any:
    """A dataclass of `model` by module and name."""
    module, _, called = name.partition(":")
    if module.split(".")[0] == "model":
        found = getattr(importlib.import_module(module), called, None)
        if isinstance(found, type) and is_dataclass(found):
            return found
    raise ValueError(f"{name!r} is no dataclass of model")
