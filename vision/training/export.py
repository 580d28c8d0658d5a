"""Write a network as ONNX, its weights as half floats: half the size, and no tile is found otherwise."""

from io import BytesIO
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

_FEW = 64  # numbers; smaller arrays are left as they are


def export_onnx(
    net: nn.Module, example: Tensor, outputs: tuple[str, ...], open_sides: tuple[int, ...], out: Path
) -> None:
    """Write a network that is done learning; `open_sides` of what it takes and gives may be of any length."""
    axes = {name: {side: f"side{side}" for side in open_sides} for name in ("picture", *outputs)}
    content = BytesIO()
    torch.onnx.export(
        net.to(memory_format=torch.contiguous_format),
        (example,),
        content,
        dynamo=False,  # the older exporter needs no further package
        opset_version=17,
        input_names=["picture"],
        output_names=list(outputs),
        dynamic_axes=axes,
    )
    model = onnx.load_model_from_string(content.getvalue())
    _halve(model)
    onnx.save(model, out)


def _halve(model: onnx.ModelProto) -> None:
    """Store large weights as half floats, each followed by a cast to what the layers take."""
    graph = model.graph
    for weights in list(graph.initializer):
        numbers = numpy_helper.to_array(weights)
        if numbers.dtype == np.float32 and numbers.size > _FEW:
            graph.initializer.remove(weights)
            graph.initializer.append(numpy_helper.from_array(numbers.astype(np.float16), weights.name + "_half"))
            cast = helper.make_node("Cast", [weights.name + "_half"], [weights.name], to=TensorProto.FLOAT)
            graph.node.insert(0, cast)
