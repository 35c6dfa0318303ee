"""Random small networks with operations, and random plans of them."""

from dataclasses import replace
from pathlib import Path

from hypothesis import strategies as st
from ruby_map.mapper.fusion import Group, boxes, stages_of
from ruby_map.mapper.networks import Part, Plan, Resident, applies
from ruby_map.workloads import Document, Fault, InputError
from ruby_map.workloads.load import read_network


def network_of(entries, inputs):
    """The network that a file with these entries has."""
    return read_network(Document("net", {"name": "net", "inputs": inputs, "layers": entries}, {}), Path(), "net")


KINDS = ["product"] * 6 + ["scores", "window", "softmax"] * 2 + ["relu", "pool", "concat", "slice", "turn"]


@st.composite
def networks(draw, most=6):
    """Layers and operations on tensors of two ranks, each reading any earlier one: chains, diamonds, residuals."""
    inputs = {"x": [draw(st.sampled_from([3, 2, 4, 1])), draw(st.sampled_from([2, 3, 1]))]}
    tensors, entries, layers = dict(inputs), [], 0
    for number in range(draw(st.integers(2, most))):
        every = list(tensors)
        name, source = f"n{number}", every[-1] if draw(st.integers(0, 3)) else draw(st.sampled_from(every))
        rows, columns = tensors[source]
        alike = [other for other, sizes in tensors.items() if sizes == [rows, columns] and other != source]
        kind = draw(st.sampled_from(KINDS + ["add"] * 6 * bool(alike)))
        entry = {"name": name, "from": source}
        if kind == "product":
            made = draw(st.sampled_from([2, 3, 1]))
            entry |= {"shape": "matmul", "sizes": {"M": made, "N": rows, "K": columns}, "from": {"Inputs": source}}
            tensors[name] = [rows, made]
        elif kind == "scores":
            other = draw(st.sampled_from([own for own, sizes in tensors.items() if sizes[1] == columns]))
            made = tensors[other][0]
            entry |= {"shape": "matmul", "sizes": {"M": made, "N": rows, "K": columns}}
            entry["from"] = {"Inputs": source, "Weights": other}
            tensors[name] = [rows, made]
        elif kind == "window":
            zeros, r = draw(st.integers(0, 1)), draw(st.integers(1, 2))
            made = max(1, columns + 2 * zeros - r + 1)
            r = columns + 2 * zeros - made + 1
            entry |= {"shape": "conv1d", "sizes": {"M": draw(st.integers(1, 2)), "C": rows, "P": made, "R": r}}
            entry |= {"from": {"Inputs": source}, "pad": {"P": zeros}}
            tensors[name] = [entry["sizes"]["M"], made]
        elif kind == "add":
            entry |= {"op": "add", "from": [source, draw(st.sampled_from(alike))]}
            tensors[name] = [rows, columns]
        elif kind in ("relu", "softmax"):
            entry |= {"op": kind}
            tensors[name] = [rows, columns]
        elif kind == "pool":
            tensors[name] = [rows, max(1, columns // 2)]
            entry |= {"op": "max_pool", "sizes": tensors[name]}
        elif kind == "concat":
            other = draw(st.sampled_from([own for own, sizes in tensors.items() if sizes[1] == columns]))
            tensors[name] = [rows + tensors[other][0], columns]
            entry |= {"op": "concat", "from": [source, other], "sizes": tensors[name]}
        elif kind == "slice":
            tensors[name] = [draw(st.integers(1, rows)), columns]
            entry |= {"op": "slice", "sizes": tensors[name]}
        else:
            tensors[name] = [columns, rows]
            entry |= {"op": "transpose", "sizes": tensors[name]}
        layers += "shape" in entry
        entries.append(entry)
    if not layers:
        rows, columns = tensors[name]
        sizes = {"M": 2, "N": rows, "K": columns}
        entries.append({"name": "end", "shape": "matmul", "sizes": sizes, "from": {"Inputs": name}})
    return network_of(entries, inputs)


def fused(graph, names):
    """The group of layers of these names and the operations between them, or None where they are none."""
    network = graph.network
    try:
        stages, links = stages_of(network, names, lambda message: Fault("", None, "", message))
        boxes(Group(stages, links, "L1"))
    except (InputError, ValueError):
        return None
    between = [
        name
        for name, node in graph.nodes.items()
        if node.operator is not None
        and node.operator.rows
        and graph.readers[name]
        and any(read.makers for read in node.reads)
        and {maker for read in node.reads for maker in read.makers} <= set(names[:-1])
        and set(graph.readers[name]) <= set(names)
    ]
    return Group(stages, links, "L1"), tuple(between)


@st.composite
def _looped(draw, group):
    """The group with any shared loops that it can have."""
    last = group.stages[-1]
    dims = [dim for dim in last.dims if last.size(dim) > 1]
    if not dims or len(group.stages) < 2:
        return group
    chosen = draw(st.lists(st.sampled_from(dims), unique=True, max_size=2))
    shared = tuple((dim, draw(st.integers(1, last.size(dim) - 1))) for dim in chosen)
    retained = frozenset(draw(st.sets(st.sampled_from(dims)))) & frozenset(chosen)
    looped = replace(group, shared=shared, retained=retained)
    try:
        boxes(looped)
    except ValueError:
        return group
    return looped


@st.composite
def plans(draw, graph):
    """Any order, any parts, any tensors that stay."""
    done, parts = set(), []

    def ready(name):
        node = graph.nodes[name]
        return name not in done and all(maker in done for read in node.reads for maker in read.makers)

    while len(done) < len(graph.nodes):
        name = draw(st.sampled_from([name for name in graph.nodes if ready(name)]))
        part = Part(operations=(name,))
        if graph.nodes[name].layer is not None:
            part = _layers_from(draw, graph, name, done)
        while draw(st.integers(0, 3)):
            more = [other for other in graph.readers[part.last] if applies(graph, other, part.last)]
            others = [other for other in more if _others_done(graph, other, part, done)]
            if not others:
                break
            part = replace(part, operations=(*part.operations, others[0]))
        parts.append(part)
        done.update(part.names)
    plan = Plan(graph, "L1", tuple(parts))
    residents = []
    for part in parts:
        readers = [name for name in graph.readers[part.last] if name not in part.names]
        if readers and draw(st.integers(0, 2)):
            until = draw(st.sampled_from(readers))
            late = any(plan.place[name] > plan.place[until] for name in readers)
            residents.append(Resident(part.last, until, late or draw(st.booleans())))
    return replace(plan, residents=tuple(_with_copies(plan, residents)))


def _with_copies(plan, residents):
    """What is read joined with words that are not in the memory leaves the chip, too."""
    for own in residents:
        joined = False
        for reader in plan.graph.readers[own.tensor]:
            here = {r.tensor for r in residents if plan.place[r.tensor] < plan.place[reader] <= plan.place[r.until]}
            for read in plan.graph.nodes[reader].reads:
                if own.tensor in read.makers and own.tensor in here:
                    joined |= bool(read.outside) or not set(read.makers) <= here
        yield replace(own, copied=own.copied or joined)


def _others_done(graph, name, part, done):
    """Whether an operation finds all else that it reads."""
    makers = {maker for read in graph.nodes[name].reads for maker in read.makers}
    return makers <= done | {part.last}


def _layers_from(draw, graph, name, done):
    """A part that begins with a layer: as many as are fused with it."""
    names = [name]
    group, between = fused_one(graph, name), ()
    while draw(st.integers(0, 3)):
        nodes = graph.nodes
        hidden = {op for op in nodes if nodes[op].operator is not None and nodes[op].operator.rows}
        after = []
        for reader in graph.readers[names[-1]]:
            after += graph.readers[reader] if reader in hidden else [reader]
        after = [own for own in after if nodes[own].layer is not None and own not in names]
        if not after:
            break
        more = fused(graph, [own for own in nodes if own in {*names, after[0]}])
        if more is None:
            break
        reads = {m for own in (*names, after[0], *more[1]) for read in nodes[own].reads for m in read.makers}
        if not reads <= done | {*names, *more[1]}:
            break
        names, (group, between) = [stage.name for stage in more[0].stages], more
    return Part(tuple(names), between, (), draw(_looped(group)))


def fused_one(graph, name):
    """The group of one layer."""
    return Group((graph.nodes[name].layer,), (), "L1")
