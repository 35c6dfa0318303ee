"""Inputs gone wrong: every kind of file that is shipped, changed in its structure, through the commands.

    python tests/fuzz.py FOLDER 0 500         # cases 0 to 499 of seed 0; the files of those that fail stay in FOLDER
    python tests/fuzz.py FOLDER 0 138 137     # case 137 alone

Each case runs in a process of its own, with 20 seconds of processor time and 4 GB. It fails with a traceback, a signal,
an internal error, without memory, where a fault has no words or bad input prints results. A failed case is one line of
JSON on standard output.
"""

import faulthandler
import json
import os
import random
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.certificate import Certificate
from ruby_map.mapper.store import Store, export_lines
from ruby_map.workloads import shaped

SECONDS, MEMORY = 20, 4 * 2**30
ROOT = Path(__file__).parent.parent
STATUSES = (0, 1, 2, 3)  # 3: points of a sweep failed

PROVE = SearchOptions(strategy="optimal", certify=True)

# Scalars that programs trip over, as they stand in YAML.
ODD = [
    *("0", "-1", "1", "2", "3", "1.5", "-0.0", "1e3", "1e308", ".inf", "-.inf", ".nan", "true", "null", "''", "~"),
    *("2147483648", "4611686018427387904", "1000000000000", "99999999999999999999", "9" * 350, "1e-320", "0x10"),
    *("'1/0'", "'2**999'", "'2**-1'", "'a+b'", "'16 * 1024'", "'0'", "'M'", "'*'", "'M=2'", "'M<=3 K=full'"),
    *("1_000", "'M=0'", "'M=4,2'", "'M=1,1,1'", "'='", "'X'", "'a/b'", "'../x'", "'~nosuchuser'", "'/dev/zero'"),
    *("'x y'", "'-'", "' '", "2020-01-01", "no"),
    *(f"'{'x' * 300}'", "'\N{GREEK SMALL LETTER ALPHA}'", '"\\ud800"', '"\\0"', '"\\n"', "[]", "{}", "[[]]"),
    *("{a: 1}", "[1, 2]", "['M']", "{from: 1, to: 3, step: 1}", "{from: 1, to: 0, times: 1}", "!Component {}"),
    *("full", "conv2d", "matmul", "DRAM", "SRAM", "regfile", "intmac", "temporal", "spatial", "optimal", "auto", "pfm"),
]  # fmt: skip
OPTIONS = {
    "ruby-map": [
        *([["--mapspace", name] for name in ("pfm", "ruby", "ruby-t", "auto", "x")]),
        *(["--pad"], ["--im2col"], ["--distinct"], ["--size"], ["--json"], ["--leakage"], ["--front", "energy,delay"]),
        *(["--json"], ["--drain-reads"]),
        *(["--objective", "delay,energy"], ["--bound-seconds", "0"], ["--search", "exhaustive"], ["--seed", "-1"]),
        *(["--hop-pj", "nan"], ["--tile-mm", "1"], ["--budget", "7"], ["--patience", "x:y"], ["--target", "inf"]),
        *(["--out", "found"], ["--search", "optimal", "--time-limit", "0.3"], ["--victory", "0"]),
        *(["--time-limit", "nan"], ["--fix", "scratchpad: M=2 order=M,K keep=Inputs"], ["--fix", "PE: M=3 K=2"]),
        *(["--placement", "uneven"], ["--search", "genetic"], ["--transfer-only"], ["--store", "s.db"]),
    ],
    "ruby-model": [
        *(["--set", "scratchpad: M=2"], ["--transforms"], ["--store", "s.db"]),
        *(["--json"], ["--simulate"], ["--explain"], ["--leakage"], ["--wire-pj-per-bit-mm", "1"], ["--drain-reads"]),
    ],
    "ruby-energy": [["--json"], ["--write-ert", "out.yaml"], ["--energy", "x"]],
    "ruby-sweep": [["--json"], ["--out", "swept"], ["--limit", "0"]],
    "ruby-store": [["--json"]],
    "ruby-check": [["--json"], ["--with", "w.yaml"]],
    "ruby-export": [["--out", "out"], ["--out", "out", "--format", "timeloop-0.4"], ["--format", "x", "--out", "y"]],
    "ruby-import": [["--dim", "N=2"], ["--dim", "N=99999999999999999999"], ["--out", "net.yaml"]],
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A command and the files it is given, by name; `changed` are those that may be changed."""

    command: str
    arguments: tuple[str, ...]
    files: dict[str, bytes]
    changed: tuple[str, ...]


class Mutator:
    """Changes in the structure of a YAML text, drawn from `rng`; other files lend parts."""

    def __init__(self, rng: random.Random, others: list[bytes]) -> None:
        self.rng, self.others = rng, others

    def text(self, content: bytes) -> bytes:
        """The same file, changed in one to four places; now and then in its letters instead."""
        if self.rng.random() < 0.15:
            return self._letters(content)
        root = yaml.compose(content.decode(), Loader=yaml.SafeLoader)
        for _ in range(min(4, 1 + int(self.rng.expovariate(1.0)))):
            places = list(_places(root))
            if places:
                self._change(root, *self.rng.choice(places))
        return bytes(yaml.serialize(root, Dumper=yaml.SafeDumper, allow_unicode=True), "utf-8", "surrogatepass")

    def _letters(self, content: bytes) -> bytes:
        """Bytes changed, a piece cut out, a line twice, an end missing."""
        found, at = bytearray(content), self.rng.randrange(len(content) + 1)
        lines = content.splitlines(keepends=True)
        line = self.rng.randrange(len(lines))
        ways: list[Callable[[], bytes]] = [
            lambda: bytes(found[:at] + bytes([self.rng.randrange(256)]) + found[at + 1 :]),
            lambda: bytes(found[:at] + found[at + self.rng.randrange(20) :]),
            lambda: bytes(found[:at]),
            lambda: b"".join([*lines[:line], lines[line], *lines[line:]]),
            lambda: b"".join([*lines[:line], b"  " + lines[line], *lines[line + 1 :]]),
            lambda: b"".join([*lines[:line], b"\t" + lines[line].lstrip(), *lines[line + 1 :]]),
        ]
        return self.rng.choice(ways)()

    def _change(self, root: yaml.Node, node: Any, index: int) -> None:
        """One change of an entry of a mapping or sequence."""
        entries, rng = node.value, self.rng
        way = rng.randrange(12)
        if way == 0:
            del entries[index]
        elif way == 1:
            entries.insert(rng.randrange(len(entries) + 1), deepcopy(entries[index]))
        elif way == 2:
            self._put(node, index, self._borrowed(root))
        elif way == 3:
            self._put(node, index, yaml.SequenceNode("tag:yaml.org,2002:seq", [_value(node, index)]))
        elif way == 4:
            entries.extend(deepcopy(entries[index]) for _ in range(rng.choice([3, 30])))
        elif way == 5 and isinstance(node, yaml.MappingNode):
            entries[index] = (self._odd(), entries[index][1])
        elif way == 6 and isinstance(node, yaml.MappingNode):
            entries.append((_word(rng.choice(["x", "name", "levels", "keep", "factors", "base", "<<"])), self._odd()))
        elif way == 7:
            self._put(node, index, node if rng.random() < 0.1 else self._scaled(_value(node, index)))
        elif way == 8 and len(entries) > 1:
            other = rng.randrange(len(entries))
            entries[index], entries[other] = entries[other], entries[index]
        else:
            self._put(node, index, self._odd())

    def _put(self, node: Any, index: int, value: yaml.Node) -> None:
        node.value[index] = (node.value[index][0], value) if isinstance(node, yaml.MappingNode) else value

    def _odd(self) -> yaml.Node:
        return yaml.compose(self.rng.choice(ODD), Loader=yaml.SafeLoader)

    def _scaled(self, value: Any) -> yaml.Node:
        """A number or text made larger, negative, or an expression."""
        if not isinstance(value, yaml.ScalarNode):
            return self._odd()
        return _word(self.rng.choice(["{}0", "-{}", "{}000000", "{} * 10", "{} / 0", "{}.5", "{}{}", "{}x"]).format(
            value.value, value.value))  # fmt: skip

    def _borrowed(self, root: yaml.Node) -> yaml.Node:
        """A part of this file or of another."""
        if self.rng.random() < 0.5:
            root = yaml.compose(self.rng.choice(self.others).decode(), Loader=yaml.SafeLoader)
        return deepcopy(_value(*self.rng.choice(list(_places(root)))))


def _places(node: Any) -> Iterator[tuple[Any, int]]:
    """Every entry of every mapping and sequence."""
    known, waiting = set(), [node]
    while waiting:
        node = waiting.pop()
        if id(node) in known or isinstance(node, yaml.ScalarNode):
            continue
        known.add(id(node))
        for index in range(len(node.value)):
            yield node, index
            waiting.append(_value(node, index))


def _value(node: Any, index: int) -> Any:
    return node.value[index][1] if isinstance(node, yaml.MappingNode) else node.value[index]


def _word(text: str) -> yaml.ScalarNode:
    """Text as YAML would read it without quotes."""
    return yaml.ScalarNode(yaml.resolver.Resolver().resolve(yaml.ScalarNode, text, (True, False)), text)


def change_model(rng: random.Random, content: bytes) -> bytes:
    """An ONNX model changed in its nodes, tensors, attributes and functions; now and then in its bytes."""
    import onnx

    if rng.random() < 0.2:
        found = bytearray(content)
        for _ in range(rng.choice([1, 4])):
            found[rng.randrange(len(found))] = rng.randrange(256)
        return bytes(found[: rng.choice([len(found), rng.randrange(len(found))])])
    model = onnx.load_model_from_string(content)
    for _ in range(rng.choice([1, 1, 2, 4])):
        _change_message(rng, rng.choice(list(_messages(model))))
    found = model.SerializeToString()
    return bytes(found)


def _messages(message: Any) -> Iterator[Any]:
    """A protobuf message and those inside it."""
    yield message
    for field, value in message.ListFields():
        if field.message_type:
            for inner in value if field.is_repeated else [value]:
                yield from _messages(inner)


def _change_message(rng: random.Random, message: Any) -> None:
    """One field of it cleared, doubled, or given another value."""
    fields = [field for field, _ in message.ListFields()] if rng.random() < 0.8 else list(message.DESCRIPTOR.fields)
    if not fields:
        return
    field = rng.choice(fields)
    if rng.random() < 0.2:
        message.ClearField(field.name)
    elif field.message_type and field.is_repeated:
        inner = getattr(message, field.name)
        inner.add().CopyFrom(rng.choice(inner)) if len(inner) else inner.add()
        if rng.random() < 0.5:
            del inner[rng.randrange(len(inner))]
    elif field.message_type:
        getattr(message, field.name).SetInParent()
    else:
        value = _field_value(rng, field)
        if field.is_repeated:
            values = getattr(message, field.name)
            values.append(value)
            if rng.random() < 0.5:
                del values[rng.randrange(len(values))]
        else:
            setattr(message, field.name, value)


def _field_value(rng: random.Random, field: Any) -> Any:
    kind = field.cpp_type
    if kind == field.CPPTYPE_STRING:
        words = [
            "",
            "X",
            "W",
            "Y",
            "x" * 300,
            "Conv",
            "MatMul",
            "Gemm",
            "Loop",
            "QLinearConv",
            "group",
            "strides",
            "a b",
        ]
        word = rng.choice(words)
        return word.encode() if field.type == field.TYPE_BYTES else word
    if kind == field.CPPTYPE_ENUM:
        return rng.choice([value.number for value in field.enum_type.values])
    if kind in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
        return rng.choice([0.0, -1.0, 1e30, float("nan"), float("inf")])
    most = 2**31 - 1 if kind in (field.CPPTYPE_INT32, field.CPPTYPE_UINT32) else 2**63 - 1
    least = 0 if kind in (field.CPPTYPE_UINT32, field.CPPTYPE_UINT64) else -most
    return rng.choice([0, 1, 2, 3, 7, 1000, least, most, most // 2])


def cases() -> list[Case]:
    """One of each kind of file, and the commands that read it."""
    small = b"name: mm\nshape: matmul\nsizes: {M: 7, N: 6, K: 10}\n"
    conv = b"name: c\nshape: conv2d\nsizes: {M: 4, C: 3, P: 7, Q: 7, R: 3, S: 3}\nstride: 2\ndilation: [1, 2]\n"
    explicit = (
        b"name: e\ndims: {A: 6, B: 5, C: 4}\ncoefficients: {s: 2}\ntensors:\n"
        b"  In: {projection: [A*s + B, C], word_bits: 8}\n  Out: {projection: [A, B], output: true}\n"
    )
    network = b"name: n\nlayers:\n  - {layer: ./w.yaml, count: 2}\n  - {layer: resnet50/conv1}\n"
    network += b"  - {name: z, shape: conv2d, sizes: {M: 4, C: 3, P: 7, Q: 7, R: 3, S: 3}}\n"
    found = []
    for path in sorted((ROOT / "arch").glob("*.yaml")):
        files = {"a.yaml": path.read_bytes(), "w.yaml": conv}
        found.append(Case("ruby-map", ("a.yaml", "w.yaml"), files, ("a.yaml",)))
        found.append(Case("ruby-energy", ("a.yaml",), files, ("a.yaml",)))
    for content in (small, conv, explicit):
        found += [
            Case("ruby-map", (arch, "w.yaml"), {"w.yaml": content}, ("w.yaml",)) for arch in ("toy_6pe", "linear_8")
        ]
    files = {"n.yaml": network, "w.yaml": small}
    found.append(Case("ruby-map", ("eyeriss_like", "n.yaml"), files, ("n.yaml", "w.yaml")))
    for path in sorted((ROOT / "workloads").glob("*.yaml")):
        found.append(Case("ruby-map", ("linear_5", "w.yaml", "--size"), {"w.yaml": path.read_bytes()}, ("w.yaml",)))
    for name in ("A04_toy2_imp_M7", "C06_conv_imp_s1", "D11_eyeriss_imp_tiny", "E05_simba_imp_tiny"):
        folder = ROOT / "tests/golden" / name
        files = {path.name: path.read_bytes() for path in folder.glob("*.yaml")}
        table = ("--ert", "ert.yaml", "--art", "ert.yaml")
        found.append(Case("ruby-model", ("arch.yaml", "problem.yaml", "mapping.yaml", *table), files, tuple(files)))
        found.append(Case("ruby-map", ("arch.yaml", "problem.yaml", *table), files, ("arch.yaml", "problem.yaml")))
    files = {"m.yaml": (ROOT / "docs/examples/conv2_x_3x3.mapping.yaml").read_bytes()}
    found.append(Case("ruby-model", ("eyeriss_like", "resnet50/conv2_x_3x3", "m.yaml"), files, ("m.yaml",)))
    found.append(Case("ruby-map", ("t.yaml", "p.yaml", "--with", "c.yaml"), TIMELOOP, tuple(TIMELOOP)))
    found += [Case("ruby-sweep", ("s.yaml",), SWEEP, ("s.yaml", *("a.yaml",) * (n > 1))) for n in range(4)]
    found.append(Case("ruby-energy", ("k.yaml",), {"k.yaml": COMPOUND}, ("k.yaml",)))
    files = {"w.yaml": small, "c.json": certificate()}
    found += [
        Case("ruby-check", ("linear_8", "w.yaml", "c.json"), files, ("c.json", *("w.yaml",) * n)) for n in (0, 0, 1)
    ]
    transforms = {"f.yaml": TRANSFORMS, "w.yaml": small}
    found.append(Case("ruby-model", ("linear_8", "w.yaml", "f.yaml"), transforms, ("f.yaml", "w.yaml")))
    found.append(Case("ruby-map", ("linear_8", "w.yaml", "--fix", "f.yaml"), transforms, ("f.yaml", "w.yaml")))
    mapping = {"m.yaml": (ROOT / "docs/examples/conv2_x_3x3.mapping.yaml").read_bytes(), "w.yaml": conv}
    begun = ("eyeriss_like", "w.yaml", "--start-from", "m.yaml", "--search", "evolve")
    found.append(Case("ruby-map", begun, mapping, ("m.yaml",)))
    found += [Case("ruby-store", ("s.db", "import", "l.jsonl"), {"l.jsonl": held()}, ("l.jsonl",))] * 2
    exported = ("eyeriss_like", "w.yaml", "m.yaml", "--out", "out")
    found.append(Case("ruby-export", exported, mapping, ("m.yaml", "w.yaml")))
    front = {"a.yaml": FRONT_END, "w.yaml": small}
    found += [Case("ruby-map", ("a.yaml", "w.yaml", "--template", "depth=8"), front, ("a.yaml",))] * 2
    found += [Case("ruby-import", ("m.onnx",), {"m.onnx": model}, ("m.onnx",)) for model in models()]
    return found


def certificate() -> bytes:
    """Of the proof of a small matrix product."""
    found = explore("linear_8", shaped("matmul", "mm", M=7, N=6, K=10), "pfm", PROVE).certificate
    assert found
    return Certificate(program="0", arch="linear_8", layers=[found]).model_dump_json().encode()


def held() -> bytes:
    """The lines of a store with a small search."""
    with TemporaryDirectory() as folder, Store(Path(folder) / "s") as store:
        options = SearchOptions(strategy="optimal")
        explore("linear_8", shaped("matmul", "mm", M=7, N=6, K=10), "pfm", options, store=store)
        return "\n".join(export_lines(store)).encode()


def change_lines(rng: random.Random, content: bytes) -> bytes:
    """Lines of JSON with one of them changed, left out or moved."""
    lines = content.splitlines()
    place = rng.randrange(len(lines))
    line = lines.pop(place)
    if rng.random() < 0.8:
        lines.insert(place, change_json(rng, line))
    elif rng.random() < 0.5:
        lines.insert(rng.randrange(len(lines) + 1), line)
    return b"\n".join(lines)


def change_json(rng: random.Random, content: bytes) -> bytes:
    """A JSON file with one to four of its entries removed, doubled or given another value."""
    root = json.loads(content)
    for _ in range(min(4, 1 + int(rng.expovariate(1.0)))):
        places = list(_entries(root))
        if places:
            node, key = rng.choice(places)
            _change_entry(rng, node, key)
    return json.dumps(root).encode()


def _entries(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every entry of every object and list, as the object or list and its key."""
    for key in list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
        yield node, key
        yield from _entries(node[key])


def _change_entry(rng: random.Random, node: Any, key: Any) -> None:
    way, value = rng.randrange(5), node[key]
    if way == 0:
        del node[key]
    elif way == 1 and isinstance(node, list):
        node.insert(key, deepcopy(value))
    elif way == 2 and isinstance(node, dict):
        node[rng.choice(["x", "M", "DRAM", "", "9" * 30])] = node.pop(key)
    elif way == 3 and isinstance(value, str | int | float):
        node[key] = value * rng.choice([2, 1000, 10**30]) if isinstance(value, int | float) else value + value
    else:
        odd = [
            None,
            True,
            "",
            "x",
            "a" * 2000,
            -1,
            0,
            1,
            7,
            1.5,
            1e308,
            2**62,
            2**64,
            10**40,
            [],
            {},
            [[0]],
            {"M": [1]},
        ]
        node[key] = deepcopy(rng.choice(odd))


TIMELOOP = {
    "t.yaml": b"""
architecture:
  version: 0.3
  subtree:
  - name: toy
    local:
    - {name: DRAM, class: DRAM, attributes: {width: 16}}
    - {name: GLB, class: SRAM, attributes: {depth: rows, width: 16}}
    - {name: 'RF[0..3]', class: regfile, attributes: {depth: 8, width: 16, meshX: 4}}
    - {name: 'MAC[0..3]', class: intmac, attributes: {datawidth: 16, meshX: 4}}
variables: {rows: 4096}
""",
    "p.yaml": b"""
problem:
  shape:
    name: gemm
    dimensions: [M, N, K]
    data_spaces:
    - {name: A, projection: [[[M]], [[K]]]}
    - {name: B, projection: [[[K]], [[N]]]}
    - {name: Z, projection: [[[M]], [[N]]], read_write: true}
  instance: {M: 8, N: 4, K: 6}
""",
    "c.yaml": b"""
mapspace_constraints:
- {target: GLB, type: spatial, factors: N=1}
- {target: GLB, type: temporal, permutation: KMN, factors: M<=2}
- {target: RF, type: dataspace, keep_only: [A, Z]}
mapper: {optimization_metric: delay, algorithm: random, victory_condition: 50, live_status: true, num_threads: 1}
""",
}
SWEEP = {
    "s.yaml": b"""
name: s
architecture: ./a.yaml
parameters: {pes: {from: 2, to: 4, step: 1}, words: pes * 16, levels.GLB.banks: [1, 2]}
linked: [{levels.DRAM.word_bits: [8, 16], levels.DRAM.width_bits: [64, 128]}]
workloads: [./w.yaml, rank1_100]
mapspaces: [pfm, pfm+pad, ruby-s]
seeds: [0, 1]
objective: edp
search: {strategy: random, victory: 30, samples: 50, patience: '0.1:20', distinct: false}
energy: {engine: default, leakage: true, hop_pj: 0.5, drain_reads: true}
pareto: [area, edp]
limit: 24
""",
    "a.yaml": b"""
name: line
variables: {pes: 4, words: 64}
levels:
  - {name: DRAM, class: DRAM, width_bits: 64, word_bits: 16}
  - name: GLB
    class: regfile
    capacity_words: words
    width_bits: 16
    word_bits: 16
    fanout: [{name: PE, size: pes, min_utilization: 0.1}]
    temporal: {max_loops: 2, outermost: [M]}
compute: {name: MAC, class: intmac, word_bits: 16}
""",
    "w.yaml": b"name: mm\nshape: matmul\nsizes: {M: 7, N: 6, K: 10}\n",
}
TRANSFORMS = b"""
transforms:
- {transform: tile, level: scratchpad, dim: K, bound: 2}
- {transform: spread, level: DRAM, axis: PE, dim: M, bound: 7}
- {transform: reorder, level: scratchpad, dims: [M, K]}
- {transform: keep, level: scratchpad, tensors: [Inputs, Weights]}
- {transform: pad, dim: N, size: 8}
"""
FRONT_END = b"""
globals: {environment_variables: {A: 1}}
architecture:
  version: 0.4
  nodes:
  - !Container {name: system, attributes: {technology: 45nm}}
  - !Component {name: DRAM, class: DRAM, attributes: {datawidth: 16, width: 64}}
  - !Container {name: PE, spatial: {meshX: 4, meshY: 2}, constraints: {spatial: {factors: [M=2]}}}
  - !Parallel
    nodes:
    - !Component {name: A, class: smartbuffer_RF, attributes: {depth: '{{depth}}', width: 16, datawidth: 16}}
    - !Hierarchical
      nodes:
      - !Component {name: B, class: storage, attributes: {depth: 0}}
      - !Component {name: C, class: regfile, attributes: {depth: 4, width: 32, word_bits: 8, block_size: 1}}
  - !Component {name: MAC, class: Imac}
constraints:
  targets:
  - {target: A, type: dataspace, keep: [Weights]}
  - {target: C, type: dataspace, keep: [Inputs]}
mapper: {timeout: 0, victory_condition: 0, search_size: null}
# {% for i in range(2) %}
x{{i}}_ignore: 1
# {% endfor %}
"""
COMPOUND = b"""
name: k
technology: 45nm
components:
  mine:
    attributes: {width_bits: , depth: , extra: 2 * width_bits}
    parts:
      memory: {class: regfile_array, attributes: {capacity_bits: depth * width_bits, width_bits: width_bits}}
      adder: {class: adder, count: 2, attributes: {bits: extra}}
    actions:
      read: {memory.read: 1, adder.add: 1}
      write: {memory.write: 1, adder.idle: 1}
levels:
  - {name: DRAM, class: DRAM, type: LPDDR4, width_bits: 64, word_bits: 16}
  - {name: GLB, class: mine, depth: 64, width_bits: 16, word_bits: 16, energy: {update_pj: 3}}
compute: {name: MAC, class: intmac, word_bits: 16}
"""


def models() -> list[bytes]:
    """Small ONNX models: convolutions, products, functions, an inner graph, a dynamic dim."""
    try:
        from onnx import TensorProto, helper
    except ImportError:  # the extra is not installed
        return []

    def value(name: str, shape: list[Any]) -> Any:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    def model(
        nodes: list[Any], inputs: dict[str, list[Any]], weights: dict[str, list[int]], functions: Any = ()
    ) -> bytes:
        constants = [
            helper.make_tensor(name, TensorProto.FLOAT, shape, [0.0] * _product(shape))
            for name, shape in weights.items()
        ]
        graph = helper.make_graph(nodes, "g", [value(*one) for one in inputs.items()], [value("Y", [None])], constants)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my", 1)]
        return bytes(helper.make_model(graph, opset_imports=opsets, functions=functions).SerializeToString())

    conv = helper.make_node("Conv", ["X", "W"], ["Z"], group=2, strides=[2, 1], pads=[1, 1, 1, 1], kernel_shape=[3, 3])
    relu = helper.make_node("Relu", ["Z"], ["Y"])
    product = helper.make_node("MatMul", ["A", "B"], ["C"])
    function = helper.make_function("my", "F", ["A", "B"], ["C"], [product], [helper.make_opsetid("", 17)])
    call = helper.make_node("F", ["X", "W"], ["Y"], domain="my")
    inner = helper.make_graph(
        [helper.make_node("Gemm", ["X", "W"], ["Y"], transB=1)], "inner", [], [value("Y", [2, 4])]
    )
    branch = helper.make_node("If", ["X"], ["Y"], then_branch=inner, else_branch=inner)
    integer = helper.make_node("QLinearMatMul", ["X", "s", "z", "W", "s", "z", "s", "z"], ["Y"])
    batch = helper.make_node("MatMul", ["X", "W"], ["Y"])
    return [
        model([conv, relu], {"X": [1, 4, 9, 9]}, {"W": [6, 2, 3, 3]}),
        model([call, branch], {"X": [2, 3], "W": [3, 4]}, {}, [function]),
        model([batch], {"X": ["N", 5, 3]}, {"W": [3, 4]}),
        model([integer], {"X": [2, 3], "s": [], "z": []}, {"W": [3, 4]}),
    ]


def _product(shape: list[int]) -> int:
    found = 1
    for size in shape:
        found *= size
    return found


def made(seed: str, number: int, every: list[Case]) -> Case:
    """Case `number` of a seed: a command with one or more of its files changed, and now and then other options."""
    rng = random.Random(f"{seed} {number}")
    case = rng.choice(every)
    others = [content for one in every for name, content in one.files.items() if name.endswith(".yaml")]
    mutator = Mutator(rng, others)
    files = dict(case.files)
    for name in rng.sample(case.changed, 1 if rng.random() < 0.8 else rng.randint(1, len(set(case.changed)))):
        change = {".onnx": change_model, ".json": change_json, ".jsonl": change_lines}.get(
            Path(name).suffix, lambda _, text: mutator.text(text)
        )
        files[name] = change(rng, files[name])
    more = rng.choice(OPTIONS[case.command]) if rng.random() < 0.5 else []
    limits = ["--samples", "60"] if case.command == "ruby-map" and not {"--budget", "optimal"} & set(more) else []
    return replace(case, files=files, arguments=(*case.arguments, *limits, *more))


def run(case: Case, folder: Path) -> str:
    """What is wrong with how the command took it; nothing where all is well. The files are in `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in case.files.items():
        (folder / name).write_bytes(content)
    child = os.fork()
    if not child:
        _child(case, folder)
    _, status, used = os.wait4(child, 0)
    err = (folder / "stderr").read_text(errors="replace")
    if os.WIFSIGNALED(status):
        return f"ended by {signal.Signals(os.WTERMSIG(status)).name} after {used.ru_utime:.1f} s, {used.ru_maxrss} kB"
    return _judged(os.WEXITSTATUS(status), (folder / "stdout").read_bytes(), err, "--json" in case.arguments)


def _judged(status: int, out: bytes, err: str, as_json: bool) -> str:
    """What is wrong with a status and what was printed."""
    if "Traceback" in err:
        return f"a traceback: {err.strip().splitlines()[-1]}"
    for words in ("not enough memory", "the system refused"):
        if words in err:
            return next(line for line in err.splitlines() if words in line)
    if status not in STATUSES:
        return f"status {status}: {err[:300]}"
    if status == 2 and (out or not err.strip()):
        return f"bad input that printed {out[:80]!r} and told {err[:80]!r}"
    if status in (0, 1) and as_json:
        try:
            json.loads(out)
        except ValueError as error:
            return f"no JSON: {error}"
    return ""


def _child(case: Case, folder: Path) -> None:
    """Run the command with its limits, and end this process."""
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT, 0o644), number)
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(10 * SECONDS)  # for what waits for ever
    status = 99
    try:
        APPS[case.command](list(case.arguments))
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 98
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


APPS: dict[str, Callable[[list[str]], None]] = {}


def load() -> None:
    """Import the commands, and let no search take long: a file may ask for one of a billion mappings."""
    from ruby_map.mapper.commands import ruby_check as command_check
    from ruby_map.mapper.commands import ruby_energy as command_energy
    from ruby_map.mapper.commands import ruby_export as command_export
    from ruby_map.mapper.commands import ruby_import as command_import
    from ruby_map.mapper.commands import ruby_map as command_map
    from ruby_map.mapper.commands import ruby_model as command_model
    from ruby_map.mapper.commands import ruby_store as command_store
    from ruby_map.mapper.commands import ruby_sweep as command_sweep
    from ruby_map.mapper.search.options import SearchOptions
    from ruby_map.mapper.search.recorder import Stop
    from ruby_map.mapper.search.run import Chunked

    stop = Chunked.stop

    def short(self: Chunked, options: SearchOptions) -> Stop:
        return replace(stop(self, options), time_limit=min(options.time_limit or 1.0, 0.05))

    Chunked.stop = short  # type: ignore[method-assign]
    APPS.update(
        {
            "ruby-map": command_map.main,
            "ruby-model": command_model.main,
            "ruby-energy": command_energy.main,
            "ruby-store": command_store.main,
            "ruby-sweep": command_sweep.main,
            "ruby-export": command_export.main,
            "ruby-import": command_import.main,
            "ruby-check": command_check.main,
        }
    )


def main(folder: Path, seed: str, end: int, first: int = 0) -> int:
    """Run cases first..end-1, tell of those that fail, and give how many did."""
    load()
    every, failed, began = cases(), 0, time.monotonic()
    for number in range(first, end):
        case, place = made(seed, number, every), folder / str(number)
        wrong = run(case, place)
        if wrong:
            failed += 1
            command = " ".join([case.command, *case.arguments])
            said = {"case": number, "command": f"cd {place} && {command}", "wrong": wrong}
            sys.stdout.write(f"{json.dumps(said)}\n")
            sys.stdout.flush()
        else:
            shutil.rmtree(place)
    sys.stderr.write(f"{end - first} cases, {failed} failed, {time.monotonic() - began:.1f} s\n")
    return failed


if __name__ == "__main__":
    place, chosen, last, *begin = sys.argv[1:]
    sys.exit(bool(main(Path(place).absolute(), chosen, int(last), int(*begin))))
