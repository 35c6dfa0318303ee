"""Random machines, layers and mappings, written in a format of another tool, read back, and what then differs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from ruby_map.mapper.commands.ruby_export import main as export
from ruby_map.mapper.commands.ruby_import import main as imported
from ruby_map.mapper.exploration import evaluate, load
from ruby_map.mapper.mapping import MappingBatch, mapping_yaml
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.workloads import InputError, Network
from ruby_map.workloads.zigzag import zigzag_names
from typer.testing import CliRunner

FORMATS = ("timeloop", "timeloop-0.4", "zigzag")
SIZES = {
    "matmul": "MNK", "batched_matmul": "BMNK", "attention_scores": "BMNKH", "conv1d": "NGMCPR",
    "conv2d": "NGMCPQRS", "conv3d": "NMCOPQTRS", "transposed_conv2d": "NMCPQRS", "rank1": "D",
}  # fmt: skip
ODD = {  # layers spelt out: dims of other names and orders, two of one part, a dim of one tensor, a step
    "product": ("ABC", {"Weights": ["C", "A"], "Inputs": ["B", "C"], "Outputs": ["A", "B"]}),
    "windows": ("XYUV", {"Weights": ["U", "V"], "Inputs": ["V+2*Y", "X*3+U"], "Outputs": ["Y", "X"]}),
    "two parts": ("ABCD", {"Weights": ["A", "C", "D"], "Inputs": ["B", "C", "D"], "Outputs": ["A", "B"]}),
    "alone": ("ABC", {"Weights": ["A", "C"], "Inputs": ["B", "A"], "Outputs": ["B", "A"]}),
    "step": ("ABC", {"Weights": ["A", "C"], "Inputs": ["B*2", "C"], "Outputs": ["A", "B"]}),
    "names": ("ABC", {"X": ["A", "C"], "Y": ["B", "C"], "Z": ["A", "B"]}),
}
# our dims of what comes back, by ZigZag's names
CONVOLUTION = {"B": "N", "G": "G", "K": "M", "C": "C", "OY": "P", "OX": "Q", "FY": "R", "FX": "S", "OZ": "O", "FZ": "T"}
PRODUCT = {"B": "N", "G": "B", "K": "M", "C": "K"}


@dataclass(frozen=True)
class Trip:
    """What became of a problem: refused with a reason, or differences after it was read back (none: equal)."""

    refused: str = ""
    differences: tuple[str, ...] = ()
    compared: bool = False


def machine(rng: np.random.Generator) -> dict[str, Any]:
    """An architecture file: one to five levels, none to three axes, bypasses, bandwidths, widths, placements."""
    levels, axes = [], int(rng.integers(0, 4))
    depth = int(rng.integers(1, 6))
    widths = bool(rng.integers(0, 4) == 0)
    places = sorted(int(each) for each in rng.integers(0, depth, axes))
    word = int(rng.choice([8, 16]))
    for i in range(depth):
        bits = int(rng.choice([8, 16, 12])) if widths else word
        level = {"name": f"L{i}", "class": "SRAM" if i else "DRAM", "word_bits": bits}
        level["width_bits"] = bits * int(rng.choice([1, 2, 4]))
        if i:
            level["capacity_bits"] = int(rng.choice([2000, 16000, 100000]))
            if gone := [t for t in ("Weights", "Inputs", "Outputs") if rng.integers(0, 4) == 0]:
                level["bypass"] = gone
        if rng.integers(0, 3) == 0:
            level["read_bandwidth"] = float(rng.choice([0.5, 1, 2, 3]))
        if rng.integers(0, 3) == 0:
            level["write_bandwidth"] = level.get("read_bandwidth", 1.0) if rng.integers(0, 2) else 1.5
        if rng.integers(0, 4) == 0:
            level["shared_bandwidth"] = float(rng.choice([1, 2, 4]))
        if rng.integers(0, 3):
            read, write = (float(rng.choice([0.5, 2, 13, 64])) for _ in range(2))
            update = write if rng.integers(0, 4) else read
            level["energy"] = {"read_pj": read, "write_pj": write, "update_pj": update}
        if i and rng.integers(0, 8) == 0:
            level["multiple_buffering"] = 2
        if i and rng.integers(0, 12) == 0:
            level["placement"] = "uneven"
        if here := [{"name": f"x{n}", "size": int(rng.choice([1, 2, 3, 4, 7])), "mesh": str(rng.choice(["X", "Y"]))}
                    for n, place in enumerate(places) if place == i]:  # fmt: skip
            level["fanout"] = here
        levels.append(level)
    compute = {"name": "MAC", "class": "intmac", "word_bits": word}
    if rng.integers(0, 2):
        compute["energy"] = {"compute_pj": 1.5}
    return {"name": "machine", "levels": levels, "compute": compute}


def layer(rng: np.random.Generator) -> dict[str, Any]:
    """A layer file of a shape, or spelt out."""
    if rng.integers(0, 4) == 0:
        dims, tensors = ODD[str(rng.choice(list(ODD)))]
        last = list(tensors)[-1]
        given = {name: {"projection": ranks} | ({"output": True} if name == last else {})
                 for name, ranks in tensors.items()}  # fmt: skip
        return {"name": "odd", "dims": {dim: int(rng.integers(1, 7)) for dim in dims}, "tensors": given}
    shape = str(rng.choice(list(SIZES)))
    sizes = {dim: int(rng.choice([1, 2, 3, 4, 5, 8])) for dim in SIZES[shape]}
    windows = {"conv1d": 1, "conv2d": 2, "conv3d": 3}.get(shape, 0)
    data = {"name": "layer", "shape": shape, "sizes": sizes}
    for key in ("stride", "dilation"):
        if windows and rng.integers(0, 3) == 0:
            data[key] = [int(rng.integers(1, 4)) for _ in range(windows)]
    if shape == "transposed_conv2d":
        data |= {"stride": 2, "sizes": sizes | {"P": 4, "Q": 2, "R": 2, "S": 4}}
    if shape != "rank1" and rng.integers(0, 5) == 0:
        data["word_bits"] = {"Weights": int(rng.choice([4, 8, 16]))}
    return data


def trip(seed: int, form: str, folder: Path) -> Trip | None:
    """Write the problem of a seed and read it back; None where there is no mapping, or one that is not valid."""
    rng = np.random.default_rng(seed)
    data = machine(rng), layer(rng)
    try:
        arch, work = written(folder, *data)
        batch = Mapspace(arch, work, str(rng.choice(["pfm", "ruby-s", "ruby"]))).sample(rng, 1)
    except InputError:
        return None
    return None if batch is None else there_and_back(folder, form, evaluate(arch, work, batch))


def written(folder: Path, *data: dict[str, Any]) -> Any:
    """The machine and the layer in these data, written to files and read."""
    paths = [folder / "machine.yaml", folder / "layer.yaml"]
    for path, each in zip(paths, data, strict=True):
        path.write_text(yaml.safe_dump(each, sort_keys=False))
    return load(str(paths[0]), paths[1])


def there_and_back(folder: Path, form: str, before: Any) -> Trip | None:
    """Write the two files of a folder, and the mapping of a result, and read them back."""
    (folder / "given.yaml").write_text(mapping_yaml(before.batch))
    inputs = [folder / f"{name}.yaml" for name in ("machine", "layer", "given")]
    done = run(export, *inputs, "--format", form, "--out", folder / form)
    if done.exit_code:
        assert done.exit_code == 2, done.stderr
        return Trip(refused=done.stderr.strip())
    if not before.found:
        return None
    after = _of_zigzag(before, folder) if form == "zigzag" else _of_timeloop(folder / form)
    return Trip(compared=after is not None, differences=tuple(differences(before, after)) if after else ())


def run(app: Any, *arguments: object) -> Any:
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


def _of_timeloop(folder: Path) -> Any:
    more = [path for path in [folder / "constraints.yaml"] if path.exists()]
    arch, work = load(str(folder / "arch.yaml"), folder / "problem.yaml", more)
    return evaluate(arch, work, folder / "mapping.yaml")


def _of_zigzag(before: Any, folder: Path) -> Any:
    """The result after `ruby-import` of all three files; None where a memory that keeps nothing had loops."""
    files = folder / "zigzag"
    for name, more in (("accelerator", ["--mapping", files / "mapping.yaml"]), ("workload", [])):
        done = run(imported, files / f"{name}.yaml", *more, "--out", files / f"{name}_back.yaml")
        assert done.exit_code == 0, done.stderr
    arch, network = load(str(files / "accelerator_back.yaml"), files / "workload_back.yaml")
    assert isinstance(network, Network)
    work, batch = network.layers[0][0], before.batch
    windows = any(len(rank) > 1 for tensor in work.tensors for rank in tensor.ranks)
    names = zigzag_names(batch.workload)
    dims = {(CONVOLUTION if windows else PRODUCT)[zz]: dim for dim, zz in names.items()}
    at = {level.name: i for i, level in enumerate(batch.arch.levels)}
    slots = [s for s, slot in enumerate(batch.arch.slots) if slot.spatial]
    axes = {f"D{number}": s for number, s in enumerate(slots, 1)}
    temporal = [s for s, slot in enumerate(batch.arch.slots) if not slot.spatial]
    columns = [batch.workload.dims.index(dims[d]) if d in dims else None for d in work.dims]
    stays = {level.name for level in arch.levels}
    if any((batch.factors[0, temporal[i]] > 1).any() for name, i in at.items() if name not in stays):
        return None
    factors = np.ones((1, len(arch.slots), len(columns)), batch.factors.dtype)
    order = np.zeros((1, len(arch.levels), len(columns)), batch.order.dtype)
    keep = np.zeros((1, len(arch.levels), len(work.tensors)), bool)
    for s, slot in enumerate(arch.slots):
        old = axes[slot.axis.name] if slot.axis else temporal[at[arch.levels[slot.level].name]]
        factors[0, s] = [1 if c is None else batch.factors[0, old, c] for c in columns]
    for i, level in enumerate(arch.levels):
        old = [columns.index(c) for c in batch.order[0, at[level.name]] if c in columns]
        order[0, i] = [*old, *(n for n, c in enumerate(columns) if c is None)]
        tensors = [tensor.name for tensor in batch.workload.tensors]
        keep[0, i] = [batch.keep[0, at[level.name], tensors.index(tensor.name)] for tensor in work.tensors]
    return evaluate(arch, work, MappingBatch.of(arch, work, factors, order, keep))


def differences(one: Any, two: Any) -> list[str]:
    """What two results do not have in common: cycles, energies, words by level and tensor."""
    if not two.found:
        return [f"not valid: {two.hint}"]
    a, b = one.valid_costs, two.valid_costs
    found = []
    for name, x, y in (("cycles", a.cycles[0], b.cycles[0]), ("steps", a.counts.cycles[0], b.counts.cycles[0])):
        found += [f"{name} {x} {y}"] * (x != y)
    if not np.isclose(one.energy_pj, two.energy_pj, rtol=1e-9):
        found.append(f"energy {one.energy_pj} {two.energy_pj}")
    for words in ("reads", "fills", "updates"):
        sums = [{}, {}]
        for total, result, costs in ((sums[0], one, a), (sums[1], two, b)):
            for i, level in enumerate(result.batch.arch.levels):
                for v, tensor in enumerate(result.batch.workload.tensors):
                    if number := int(getattr(costs.counts, words)[0, i, v]):
                        total[level.name, tensor.name] = number
        found += [f"{words} {sums[0]} {sums[1]}"] * (sums[0] != sums[1])
    return found
