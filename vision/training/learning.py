"""The common parts of all trainings: layers, batches, the training loop, and writing a network.

Training runs on a GPU if torch finds one (CUDA), otherwise on all cores. Batches are made ahead in threads, in order.
An interrupted training resumes from its last checkpoint.
"""

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import asdict, dataclass
from io import BytesIO
from itertools import islice
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from vision.training.parallel import Job, cores, in_order

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
BATCH = 128  # pictures per batch of `shuffled`
_INVERTED = 0.3  # share of batches that are inverted
_REPORTED_EVERY = 100  # steps between two lines of output
_CHECKPOINT_EVERY_S = 300.0  # seconds between checkpoints: the most that an interruption costs

Batch = tuple[Tensor, ...]
"""Pictures, shape (n, 3, h, w), about -1..1, followed by their truth."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The training schedule: steps, peak rate and the share of steps to reach it, weight decay, longest gradient."""

    steps: int
    rate: float
    warm: float
    decay: float
    longest: float = float("inf")


def train(
    net: nn.Module,
    jobs: Iterable[Job],
    make: Callable[[Job], Batch],
    loss: Callable[[Any, Batch], Tensor],
    schedule: Schedule,
    out: Path,
) -> None:
    """Train a network, one step per job; `loss` takes its output, in half precision, and the batch made from the job.

    Checkpoints are written beside `out`, and kept until `clean_up` is called; an interrupted
    training resumes from there.
    """
    net.to(DEVICE, memory_format=torch.channels_last).train()
    optimiser = torch.optim.AdamW(net.parameters(), lr=schedule.rate, weight_decay=schedule.decay)
    rates = torch.optim.lr_scheduler.OneCycleLR(optimiser, schedule.rate, schedule.steps, pct_start=schedule.warm)
    checkpoint = _Checkpoint(_checkpoint_path(out), schedule, (net, optimiser, rates))
    done = checkpoint.read()
    began, total = time.monotonic(), torch.zeros((), device=DEVICE)
    written = began
    for step, made in enumerate(made_ahead(make, islice(jobs, done, None)), done + 1):
        batch = tuple(part.to(DEVICE) for part in made)
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            output = net(batch[0].contiguous(memory_format=torch.channels_last))
        loss_value = loss(output, batch)
        optimiser.zero_grad()
        loss_value.backward()
        nn.utils.clip_grad_norm_(net.parameters(), schedule.longest)
        optimiser.step()
        rates.step()
        total += loss_value.detach()
        if step % _REPORTED_EVERY == 0 or step == schedule.steps:
            mean = total.item() / min(step - done, (step - 1) % _REPORTED_EVERY + 1)
            print(f"step {step}: loss {mean:.4f}, {time.monotonic() - began:.0f} s", flush=True)
            total.zero_()
        if step == schedule.steps or time.monotonic() - written > _CHECKPOINT_EVERY_S:
            checkpoint.write(step)
            written = time.monotonic()
    net.eval()


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    """The checkpoint file of a training, beside its network."""

    path: Path
    schedule: Schedule
    parts: tuple[Any, ...]
    """The network, optimiser and scheduler; torch has no common type for objects with a state."""

    def write(self, step: int) -> None:
        """Write the state after a step, atomically."""
        beside = self.path.with_suffix(".new")
        states = [part.state_dict() for part in self.parts]
        torch.save({"step": step, "states": states, "schedule": asdict(self.schedule)}, beside)
        beside.replace(self.path)

    def read(self) -> int:
        """Restore the state of the checkpoint; return its step, 0 if there is none."""
        if not self.path.exists():
            return 0
        saved = torch.load(self.path, map_location=DEVICE, weights_only=True)
        if saved["schedule"] != asdict(self.schedule):
            raise SystemExit(f"{self.path} is of a training with other options: delete it, or use the same options")
        for part, state in zip(self.parts, saved["states"], strict=True):
            part.load_state_dict(state)
        print(f"resuming after step {saved['step']}", flush=True)
        return int(saved["step"])


def _checkpoint_path(out: Path) -> Path:
    return out.with_suffix(".part")


def clean_up(*outs: Path) -> None:
    """Delete the checkpoints of networks that are written."""
    for out in outs:
        _checkpoint_path(out).unlink(missing_ok=True)


def made_ahead(make: Callable[[Job], Batch], jobs: Iterable[Job]) -> Generator[Batch]:
    """Yield batches in the order of the jobs, made in threads while the network trains on earlier ones."""
    cv2.setNumThreads(1)
    threads = max(1, cores() - 1)
    with ThreadPool(threads) as pool:
        yield from in_order(pool, make, jobs, 2 * threads)


def shuffled(count: int, epochs: int, seed: int) -> Iterator[tuple[NDArray[np.int64], np.random.Generator]]:
    """Yield for each batch the indices of its pictures, out of `count`, and a random generator for changing them."""
    chance = np.random.default_rng(seed)
    for _ in range(epochs):
        order = chance.permutation(count)
        for at in range(0, count - BATCH + 1, BATCH):
            yield order[at : at + BATCH], chance.spawn(1)[0]


def to_tensor(array: NDArray[np.generic]) -> Tensor:
    """Return an array as a float tensor."""
    return torch.from_numpy(np.ascontiguousarray(array, dtype=np.float32))


def recolour(pixels: NDArray[np.uint8], chance: np.random.Generator) -> NDArray[np.uint8]:
    """Swap channels and invert pictures at random, so that they look different in each epoch."""
    pixels = pixels[:, :, :, chance.permutation(3)]
    return np.ascontiguousarray(255 - pixels if chance.random() < _INVERTED else pixels)


def conv(before: int, after: int, size: int = 3, step: int | tuple[int, int] = 1, dilation: int = 1) -> nn.Sequential:
    """Return a convolution, dilated by `dilation`, with normalisation and ReLU."""
    convolution = nn.Conv2d(before, after, size, step, dilation * (size // 2), dilation=dilation, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(after), nn.ReLU(inplace=True))


class Residual(nn.Module):  # type: ignore[misc]  # torch is not installed where types are checked
    """A residual block of two convolutions."""

    def __init__(self, width: int, dilation: int = 1) -> None:
        super().__init__()
        self.first = conv(width, width, dilation=dilation)
        self.second = nn.Sequential(nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x: Tensor) -> Tensor:
        """Return a tensor of the same shape."""
        return torch.relu(x + self.second(self.first(x)))


_FEW = 64  # numbers; arrays up to this size stay in single precision


def export_onnx(
    net: nn.Module, example: Tensor, outputs: tuple[str, ...], open_sides: tuple[int, ...], out: Path
) -> None:
    """Write a trained network as ONNX; the axes `open_sides` of its input and outputs may have any length."""
    axes = {name: {side: f"side{side}" for side in open_sides} for name in ("picture", *outputs)}
    content = BytesIO()
    torch.onnx.export(
        net.to("cpu", memory_format=torch.contiguous_format),
        (example,),
        content,
        dynamo=False,  # the older exporter needs no additional package
        opset_version=17,
        input_names=["picture"],
        output_names=list(outputs),
        dynamic_axes=axes,
    )
    model = onnx.load_model_from_string(content.getvalue())
    _halve(model)
    beside = out.with_suffix(".new")
    onnx.save(model, beside)
    beside.replace(out)  # atomically, as a network that exists is not trained again


def _halve(model: onnx.ModelProto) -> None:
    """Store large weights in half precision, each followed by a cast to single precision."""
    graph = model.graph
    for weights in list(graph.initializer):
        values = numpy_helper.to_array(weights)
        if values.dtype == np.float32 and values.size > _FEW:
            graph.initializer.remove(weights)
            graph.initializer.append(numpy_helper.from_array(values.astype(np.float16), weights.name + "_half"))
            cast = helper.make_node("Cast", [weights.name + "_half"], [weights.name], to=TensorProto.FLOAT)
            graph.node.insert(0, cast)
