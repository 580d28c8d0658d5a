"""Write a network as ONNX, its weights as half floats: half the size, and no tile is found otherwise."""

from io import BytesIO
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

_FEW = 64  # numbers; smaller arrays are left as they are


def export(net: nn.Module, example: Tensor, axes: dict[str, dict[int, str]], out: Path) -> None:
    """Write a network that is done learning; `axes` names the sides of `picture` and `answer` that are left open."""
    content = BytesIO()
    torch.onnx.export(
        net.to(memory_format=torch.contiguous_format),
        (example,),
        content,
        dynamo=False,  # the older exporter needs no further package
        opset_version=17,
        input_names=["picture"],
        output_names=["answer"],
        dynamic_axes=axes,
    )
    model = onnx.load_model_from_string(content.getvalue())
    halve(model)
    onnx.save(model, out)


def halve(model: onnx.ModelProto) -> None:
    """Store large weights as half floats, each followed by a cast to what the layers take."""
    graph = model.graph
    for weights in list(graph.initializer):
        numbers = numpy_helper.to_array(weights)
        if numbers.dtype == np.float32 and numbers.size > _FEW:
            graph.initializer.remove(weights)
            graph.initializer.append(numpy_helper.from_array(numbers.astype(np.float16), weights.name + "_half"))
            cast = helper.make_node("Cast", [weights.name + "_half"], [weights.name], to=TensorProto.FLOAT)
            graph.node.insert(0, cast)
