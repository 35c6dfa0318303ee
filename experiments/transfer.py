"""Claim: mappings of other layers, adapted, come near a search of the layer itself: the best of five networks' layers
is there in the median, and no mapping is lost on the way.

Every layer of five networks is searched for a while (`evolve`, by mappings, so that the answer does not depend on the
machine's speed): its reference. Then every layer's mapping is adapted to every other layer, and counted there, without
any search: EDP over the target's reference, by ways to choose the source. BERT's layers at 128 tokens go to 256 and
back, and mappings of the 14 x 12 array to arrays of other sizes. Last, what a search gains that begins with the pool of
the other networks, on eyeriss_like and on a machine with five memories that may keep anything, where searches are
long.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf, log2
from pathlib import Path
from statistics import quantiles
from time import process_time

from common import Result, arguments, curve, recorded, save, tell
from matplotlib.ticker import LogLocator, NullFormatter
from ruby_map.arch import Architecture, load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper import Result as Found
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.exploration import StartMappings, distinct_layers
from ruby_map.mapper.mapping import read_outline, together, write_mapping
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model import evaluate
from ruby_map.mapper.search import Recorder
from ruby_map.mapper.search.variation import MappingSampler, adapted, widened
from ruby_map.workloads import Document, Rank, Workload, load_workload

NETWORKS = ("alexnet", "resnet50", "vgg16", "mobilenet_v2", "bert_base_128")
MACHINE, MAPSPACE = "eyeriss_like", "ruby-s"
MAPPINGS = 60_000  # of a reference: about 0.6 CPU-seconds
ARRAYS = ((7, 6), (14, 12), (16, 16), (28, 24))
SHARES = (10, 25, 50, 75, 90)  # percent
MARKS = (0.1, 0.2, 0.3, 0.5, 1.0)  # CPU-seconds
HARD = Path(__file__).parent / "five_levels.yaml"
HARD_LAYERS = (
    "resnet50/conv3_x_3x3", "resnet50/conv4_x_3x3", "resnet50/conv5_x_3x3", "vgg16/conv3_1", "vgg16/conv4_2",
    "alexnet/conv3", "alexnet/conv4",
)  # fmt: skip
HARD_MAPPINGS = 300_000  # of a reference: about 10 CPU-seconds
HARD_MARKS = (1.0, 2.0, 3.0, 5.0, 10.0)
NEAR = 1.05

Layers = dict[str, Workload]  # by NETWORK/LAYER, those of equal shape in a network once


def main() -> None:
    options = arguments(__doc__, more=_more)
    result = recorded(__file__, options) or measured(options)
    save(__file__, options.out, result, lambda *axes: _draw(axes, result), (1, 3), (13, 4))


def measured(options: argparse.Namespace) -> Result:
    """Adapt every mapping to every layer, and search from what is adapted."""
    networks, mappings = (("alexnet",), 1_000) if options.quick else (NETWORKS, options.mappings)
    arch = load_arch(MACHINE)
    layers = dict(list(distinct(networks).items())[: 3 if options.quick else None])
    references = {name: reference(arch, layer, mappings) for name, layer in layers.items()}
    most = 1 if options.quick else 10
    layer_names = list(layers)[:: max(1, len(layers) // most)][:most]
    over = zero_shot(arch, layers, references)
    rows = {name: _spread(list(choose(over, layers))) for name, choose in CHOICES.items()}
    result: Result = {
        "machine": MACHINE, "mapspace": MAPSPACE, "mappings": mappings, "layers": len(layers),
        "pairs": len(layers) ** 2, "lost": sum(value == inf for row in over.values() for value in row.values()),
        "zero_shot": rows,
        "tokens": {f"{a} to {b}": tokens(arch, a, b, mappings) for a, b in ((128, 256), (256, 128))[:most]},
        "arrays": arrays(layers, references, mappings, 1 if options.quick else 12),
        "begun": started_searches(arch, layers, references, layer_names, MARKS[:2] if options.quick else MARKS),
        "begun_hard": hard(options.quick),
    }  # fmt: skip
    tell(markdown(result))
    return result


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mappings", type=int, default=MAPPINGS, help="that a reference looks at")


def layer_class(layer: Workload) -> str:
    """Name the class of a layer: the dims that index its tensors, with strides and dilations; sizes do not count.

    A dim of size 1 counts as none, so 1 x 1 convolutions are a class of their own, and depthwise ones, too.
    """
    sizes = dict(zip(layer.dims, layer.sizes, strict=True))

    def text(rank: Rank) -> str:
        return "+".join(str(term) for term in rank if sizes[term.dim] > 1)

    return " ".join(
        f"{tensor.name}[{','.join(text(rank) for rank in tensor.ranks if text(rank))}]" for tensor in layer.tensors
    )


def distinct(networks: Sequence[str]) -> Layers:
    """The layers of networks, those of equal shape in a network once."""
    return {
        f"{network}/{layer.name}": layer for network in networks for layer in distinct_layers(load_workload(network))
    }


def reference(arch: Architecture, layer: Workload, mappings: int) -> Found:
    """The best mapping of a short search of the layer."""
    result = explore(arch, layer, MAPSPACE, SearchOptions(strategy="evolve", samples=mappings))
    assert isinstance(result, Found)
    assert result.found
    return result


def transferred(arch: Architecture, layer: Workload, sources: Mapping[str, Found]) -> dict[str, float]:
    """The EDP of each source's mapping, adapted; inf where none came of it."""
    space = Mapspace(arch, layer, MAPSPACE)  # type: ignore[arg-type]
    sampler, table, edps = MappingSampler(space), energy_table(arch), {}
    for name, source in sources.items():
        assert source.batch is not None
        outline = read_outline(Document(name, write_mapping(source.batch), {}), arch, layer)
        near = adapted(sampler, [outline])
        batch = together([near, widened(sampler, near)])
        edps[name] = float(evaluate(batch, table).edp.min()) if len(batch) else inf
    return edps


def zero_shot(arch: Architecture, layers: Layers, references: Mapping[str, Found]) -> dict[str, dict[str, float]]:
    """By target and source, the EDP over the target's reference."""
    return {
        name: {source: edp / references[name].edp for source, edp in transferred(arch, layer, references).items()}
        for name, layer in layers.items()
    }


Over = Mapping[str, Mapping[str, float]]


def _other_sources(over: Over) -> Iterator[tuple[str, dict[str, float]]]:
    for name, row in over.items():
        yield name, {source: value for source, value in row.items() if source != name}


def any_of_class(over: Over, layers: Layers) -> Iterator[float]:
    """Each layer of the class as the source."""
    classes = {name: layer_class(layer) for name, layer in layers.items()}
    for name, row in _other_sources(over):
        yield from (value for source, value in row.items() if classes[source] == classes[name])


def nearest(over: Over, layers: Layers) -> Iterator[float]:
    """The source nearest in the logarithms of sizes, of those with the same dims."""
    for name, row in _other_sources(over):
        own_sizes = dict(zip(layers[name].dims, layers[name].sizes, strict=True))
        far = {source: _distance(own_sizes, layers[source]) for source in row}
        if far and min(far.values()) < inf:
            yield row[min(far, key=far.__getitem__)]


def _distance(sizes: Mapping[str, int], layer: Workload) -> float:
    if set(sizes) != set(layer.dims):
        return inf
    return sum(abs(log2(sizes[dim] / size)) for dim, size in zip(layer.dims, layer.sizes, strict=True))


def best_of_class(over: Over, layers: Layers) -> Iterator[float]:
    """The best of the class's layers."""
    classes = {name: layer_class(layer) for name, layer in layers.items()}
    for name, row in _other_sources(over):
        own = [value for source, value in row.items() if classes[source] == classes[name]]
        yield from [min(own)] if own else []


def best_of_pool(over: Over, layers: Layers) -> Iterator[float]:
    """The best of all other layers."""
    yield from (min(row.values()) for _, row in _other_sources(over))


def best_of_other_networks(over: Over, layers: Layers) -> Iterator[float]:
    """The best of other networks' layers."""
    for name, row in _other_sources(over):
        own = [value for source, value in row.items() if source.split("/")[0] != name.split("/")[0]]
        yield from [min(own)] if own else []


CHOICES: dict[str, Callable[[Over, Layers], Iterator[float]]] = {
    "any layer of the class": any_of_class,
    "nearest in log sizes": nearest,
    "best of the class": best_of_class,
    "best of the pool": best_of_pool,
    "best of other networks": best_of_other_networks,
}


def tokens(arch: Architecture, source_tokens: int, target_tokens: int, mappings: int) -> dict[str, float]:
    """BERT's layers at one number of tokens from the same layers at another: EDP over the reference."""
    sources, targets = (
        {layer.name: layer for layer in distinct_layers(load_workload(f"bert_base_{number}"))}
        for number in (source_tokens, target_tokens)
    )
    pool = {name: reference(arch, layer, mappings) for name, layer in sources.items()}
    return {
        name: min(transferred(arch, layer, pool).values()) / reference(arch, layer, mappings).edp
        for name, layer in targets.items()
    }


def arrays(layers: Layers, references: Mapping[str, Found], mappings: int, most: int) -> dict[str, list[float]]:
    """The mappings of the 14 x 12 array on arrays of other sizes: the same layer's, and the best of the pool."""
    ratios = {}
    layer_names = list(layers)[:: max(1, len(layers) // most)][:most]
    for columns, rows in ARRAYS:
        arch = load_arch(MACHINE, {"columns": columns, "rows": rows})
        own, pool = [], []
        for name in layer_names:
            least = reference(arch, layers[name], mappings).edp
            edp = transferred(arch, layers[name], references)
            own.append(edp[name] / least)
            pool.append(min(edp.values()) / least)
        ratios[f"{columns} x {rows}"] = [_middle(own), _middle(pool)]
    return ratios


def hard(quick: bool) -> dict[str, Result]:
    """The same on the machine with five memories, for ResNet-50's layers."""
    names, mappings, marks = (HARD_LAYERS[:1] + HARD_LAYERS[-1:], 1_000, (0.1, 0.2)) if quick else (
        HARD_LAYERS, HARD_MAPPINGS, HARD_MARKS
    )  # fmt: skip
    arch = load_arch(HARD)
    layers = {name: load_workload(name) for name in names}
    assert all(isinstance(layer, Workload) for layer in layers.values())
    references = {name: reference(arch, layer, mappings) for name, layer in layers.items()}  # type: ignore[arg-type]
    own = [name for name in names if name.startswith("resnet50/")]
    return started_searches(arch, layers, references, own, marks)  # type: ignore[arg-type]


def started_searches(
    arch: Architecture, layers: Layers, references: Mapping[str, Found], names: Sequence[str], marks: Sequence[float]
) -> dict[str, Result]:
    """How far a search is after some CPU-seconds, from nothing and from other networks; adapting is included."""
    traces: dict[str, list[list[tuple[float, float]]]] = {"from nothing": [], "from other networks": []}
    for name in names:
        pool = [result for source, result in references.items() if source.split("/")[0] != name.split("/")[0]]
        documents = tuple(
            Document("pool", write_mapping(result.batch), {}) for result in pool if result.batch is not None
        )
        for how, start in (("from nothing", None), ("from other networks", StartMappings(documents))):
            traces[how].append(_trace(arch, layers[name], start, references[name].edp, marks[-1]))
    return {
        how: {
            "over": [[mark, _spread([_at(trace, mark) for trace in runs])["50"]] for mark in marks],
            "near": _spread([next((used for used, value in trace if value <= NEAR), inf) for trace in runs])["50"],
        }
        for how, runs in traces.items()
    }


def _trace(arch: Architecture, layer: Workload, start: object, least: float, last: float) -> list[tuple[float, float]]:
    began, trace = process_time(), list[tuple[float, float]]()

    def watch(_: Workload, recorder: Recorder) -> None:
        used = process_time() - began
        trace.append((used, float(recorder.best) / least))
        if used > last:
            raise KeyboardInterrupt

    options = SearchOptions(strategy="evolve", seed=1, victory=None)
    explore(arch, layer, MAPSPACE, options, progress=watch, start_from=start)  # type: ignore[typeddict-item]
    return trace


def _at(trace: Sequence[tuple[float, float]], mark: float) -> float:
    return min((value for used, value in trace if used <= mark), default=inf)


def _spread(values: Sequence[float]) -> dict[str, float | None]:
    """Quantiles; None where one is infinite."""
    if len(values) < 2:
        values = [*values, *values] if values else [inf, inf]
    known = sorted(values)
    if known[-1] == inf:
        return {str(share): _finite(known[min(len(known) - 1, share * len(known) // 100)]) for share in SHARES}
    cuts = quantiles(known, n=100, method="inclusive")
    return {str(share): cuts[share - 1] for share in SHARES}


def _finite(value: float) -> float | None:
    return None if value == inf else value


def _middle(values: Sequence[float]) -> float:
    median = _spread(values)["50"]
    assert median is not None
    return median


def markdown(result: Result) -> str:
    """The tables as text."""
    lines = ["| source | " + " | ".join(f"{share} %" for share in SHARES) + " |", "|---" * (len(SHARES) + 1) + "|"]
    for name, spread in result["zero_shot"].items():
        lines.append(f"| {name} | " + " | ".join(_cell(spread[str(share)]) for share in SHARES) + " |")
    lines += ["", f"lost: {result['lost']} of {result['pairs']} pairs", ""]
    for name, ratios in result["tokens"].items():
        lines.append(f"BERT {name}: " + ", ".join(f"{layer} {ratio:.3f}" for layer, ratio in ratios.items()))
    for name, (own, pool) in result["arrays"].items():
        lines.append(f"array {name}: the layer's own mapping {own:.3f}, best of the pool {pool:.3f}")
    for key, machine in (("begun", MACHINE), ("begun_hard", HARD.stem)):
        for name, progress in result[key].items():
            said = ", ".join(f"{mark:g} s {_cell(value)}" for mark, value in progress["over"])
            lines.append(f"{machine}, {name}: {said}; 5 % after {_cell(progress['near'])} s")
    return "\n".join(lines) + "\n"


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _draw(axes, result: Result) -> None:  # type: ignore[no-untyped-def]
    shot, *searches = axes
    for number, (name, spread) in enumerate(result["zero_shot"].items()):
        known = [(share, spread[str(share)]) for share in SHARES if spread[str(share)] is not None]
        if known:
            curve(shot, number, name, *(list(column) for column in zip(*known, strict=True)))
    shot.set(yscale="log", xlabel="share of layers [%]", ylabel="EDP / search of the layer itself")
    shot.set_title("adapted, without a search", fontsize=10, loc="left")
    for search, key, machine in zip(searches, ("begun", "begun_hard"), (MACHINE, HARD.stem), strict=True):
        for number, (name, progress) in enumerate(result[key].items()):
            known = [(mark, value) for mark, value in progress["over"] if value is not None]
            if known:
                curve(search, number, name, *(list(column) for column in zip(*known, strict=True)))
        search.set(xlabel="CPU-seconds", ylabel="EDP / reference (median)")
        search.set_title(f"a search that begins with them, {machine}", fontsize=10, loc="left")
    shot.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2)))
    shot.yaxis.set_major_formatter("{x:g}")
    shot.yaxis.set_minor_formatter(NullFormatter())
    for panel in axes:
        panel.legend(fontsize=8, frameon=False)


if __name__ == "__main__":
    main()
