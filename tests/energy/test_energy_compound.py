"""Compound components: classes made of parts, in an architecture's `components` and in energy/components.yaml."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch import load_arch, parse_arch
from ruby_map.energy import closed_form, default_table, energy_table
from ruby_map.energy.accelergy import description
from ruby_map.energy.cacti import sram
from ruby_map.energy.grid import Sram
from ruby_map.workloads import InputError, parse_yaml

BUFFER = """
  pe_buffer:
    attributes: {capacity_bits: , width_bits: , latches: width_bits / 16}
    parts:
      buffer: {class: smart_buffer, attributes: {capacity_bits: capacity_bits, width_bits: width_bits}}
      latch: {class: reg, count: latches}
    actions:
      read: {buffer.read: 1, latch.write: latches, latch.read: 0.5}
      write: {buffer.write: 1}
      update: {buffer.read: 1, buffer.write: 1}
"""


def machine(
    components="", level="class: smart_buffer, depth: 16384, width_bits: 64, banks: 32", compute="intmac", more=""
):
    text = f"""name: made
technology: 45nm
{"components:" + components if components else ""}
levels:
  - {{name: DRAM, class: DRAM, type: LPDDR4, width_bits: 64}}
  - {{name: BUF, {level}}}
compute: {{name: MAC, class: {compute}, word_bits: 16{more}}}
"""
    return parse_arch(parse_yaml(text, "made.yaml"))


def faults(*arguments, **more):
    """The faults of a machine, as (line, path, message)."""
    with pytest.raises(InputError) as error:
        default_table(machine(*arguments, **more))
    return [(fault.line, fault.path, fault.message) for fault in error.value.faults]


def figures(level):
    return (level.read_pj, level.write_pj, level.update_pj, level.leak_pj_per_cycle, level.area_um2)


@pytest.mark.parametrize(
    ("builtin", "compound"), [("SRAM", "smart_buffer"), ("regfile", "smart_regfile")], ids=["SRAM", "regfile"]
)
@pytest.mark.parametrize(
    "sizes", ["depth: 16384, width_bits: 64", "depth: 300, width_bits: 16", "depth: 2048, width_bits: 32"]
)
def test_shipped_buffers_cost_what_the_builtin_classes_cost(builtin, compound, sizes):
    """A memory and its two address generators, summed by the shipped class, are the built-in SRAM and regfile."""
    one, other = (default_table(machine(level=f"class: {cls}, {sizes}")).levels[1] for cls in (builtin, compound))
    assert figures(other) == pytest.approx(figures(one), rel=1e-12)
    assert other.source.startswith(f"compound {compound}: parts memory (")
    assert "2 x generator (closed form: Aladdin adder, 45 nm)" in other.source


def test_a_shipped_buffer_at_another_node():
    """At 65 nm every part is scaled: the sum stays the built-in SRAM's, up to the idle adder's exponent."""
    text = "class: {}, depth: 16384, width_bits: 64, technology: 65nm"
    one, other = (default_table(machine(level=text.format(cls))).levels[1] for cls in ("SRAM", "smart_buffer"))
    assert figures(other) == pytest.approx(figures(one), rel=1e-4)
    assert "scaled from 45 to 65 nm" in other.source


@given(st.integers(1, 64), st.integers(1, 64))
def test_a_vector_mac_is_a_multiplier_an_adder_and_a_share_of_the_sum(lanes, bits):
    """The shipped vector MAC against its sum by hand; more lanes share the register of the sum and cost less each."""
    arch = machine(compute="vector_mac", more=f", attributes: {{lanes: {lanes}, sum_bits: {bits}}}")
    told = default_table(arch).compute
    energy = 8.63 * (16 / 32) ** 2 + 0.0857 * bits / 32 + 2 * 0.009 / lanes
    assert told.compute_pj == pytest.approx(energy)
    assert told.area_um2 == pytest.approx(4600 * (16 / 32) ** 2 + 179 * bits / 32 + 5.98 / lanes)


def test_a_default_may_use_attributes_before_it():
    """The width of a vector MAC's sum is twice the word's unless it is given."""
    plain = default_table(machine(compute="vector_mac", more=", attributes: {lanes: 4}")).compute
    given_so = default_table(machine(compute="vector_mac", more=", attributes: {lanes: 4, sum_bits: 32}")).compute
    assert plain == given_so


def test_a_class_of_the_architecture():
    """Its actions are sums with counts, its area the sum over its parts, classes inside classes included."""
    told = default_table(machine(BUFFER, "class: pe_buffer, depth: 4096, width_bits: 64")).levels[1]
    memory, ways = sram(Sram(45, 32768, 64, 2, 1)), closed_form.address_generators()
    read, write = memory.read_pj + ways.read_pj, memory.write_pj + ways.write_pj
    area = memory.area_um2 + ways.area_um2 + 4 * 5.98
    assert figures(told) == pytest.approx((read + 4.5 * 0.009, write, read + write, memory.leak_uw / 200, area))
    assert told.source == (
        "compound pe_buffer: parts buffer (compound smart_buffer), "
        "4 x latch (closed form: Aladdin register of any width, 45 nm)"
    )


def test_own_energy_still_wins():
    """A component with `energy` of its own is not estimated, whatever its class."""
    told = default_table(machine(BUFFER, "class: pe_buffer, depth: 4, energy: {read_pj: 1, write_pj: 2}")).levels[1]
    assert (told.read_pj, told.source) == (1, "given in the architecture")


def test_an_overlay_changes_one_class(tmp_path):
    """An architecture on a base takes its classes over, and replaces those that it names."""
    base = tmp_path / "base.yaml"
    level = "{name: BUF, class: pe_buffer, depth: 4096, width_bits: 64}"
    base.write_text(
        f"name: base\ntechnology: 45nm\ncomponents:{BUFFER}levels:\n  - {{name: D, class: DRAM}}\n  - {level}\n"
        "compute: {name: MAC}\n"
    )
    over = tmp_path / "over.yaml"
    over.write_text(
        "base: base.yaml\nname: over\ncomponents:\n"
        "  other:\n    parts: {r: {class: reg}}\n    actions: {read: {r.read: 1}}\n"
    )
    assert [str(found.name.value) for found in load_arch(str(over)).components] == ["pe_buffer", "other"]
    assert default_table(load_arch(str(over))).levels == default_table(load_arch(str(base))).levels


def test_a_type_of_dram_as_a_part():
    """Text goes to a part that wants text: as it stands, or as an attribute of the compound."""
    components = """
  module:
    attributes: {width_bits: , type: HBM2}
    parts:
      chip: {class: DRAM, attributes: {width_bits: width_bits, type: type}}
      cache: {class: DRAM, attributes: {width_bits: 1, type: DDR3}}
    actions: {read: {chip.read: 1, cache.read: 1}, write: {chip.write: 1}}
"""
    plain = default_table(machine(components, "class: module, depth: 64, width_bits: 64")).levels[1]
    told = default_table(machine(components, "class: module, depth: 64, width_bits: 64, type: GDDR5")).levels[1]
    assert plain.read_pj == pytest.approx(64 * 3.9 + 70)
    assert told.read_pj == pytest.approx(64 * 14 + 70)


def test_every_fault_of_the_definitions_at_once():
    """Unknown classes, attributes, parts and actions, what is missing, and a cycle, each with line and near name."""
    components = """
  one:
    parts:
      a: {class: addder, attributes: {bits: 4}}
      b: {class: adder, attributes: {bitts: 4}}
      c: {class: two}
    actions: {read: {b.ad: 1, bb.add: 1, b: 1}}
  two:
    parts: {d: {class: one}}
    actions: {read: {d.read: 1}}
  sram:
    parts: {d: {class: reg}}
    actions: {read: {d.read: 1}}
"""
    found = faults(components, "class: one, depth: 4")
    assert [line for line, _, _ in found] == [13, 6, 7, 7, 9, 9, 9, 11]
    texts = [f"{path}: {message}" for _, path, message in found]
    assert texts[0] == "components.sram: sram is a built-in class, a class of yours needs another name"
    assert "components.one.parts.a.class: unknown class 'addder'; known: sram_array" in texts[1]
    assert 'did you mean "adder"?' in texts[1]
    assert texts[2].startswith("components.one.parts.b.attributes.bitts: adder has no attribute 'bitts'; known: bits")
    assert texts[3] == "components.one.parts.b.class: adder must be given bits"
    assert "adder has no action 'ad'; known: add, idle; did you mean \"add\"?" in texts[4]
    assert "must be PART.ACTION of a part, got 'bb.add'; known: a, b, c" in texts[5]
    assert "got 'b'" in texts[6]
    assert texts[7] == "components.two.parts.d.class: a class cannot contain itself: one > two > one"


def test_faults_are_found_in_classes_that_nothing_uses():
    """A definition is checked whether a component has its class or not."""
    unused = "\n  odd:\n    parts: {a: {class: regg}}\n    actions: {read: {a.read: 1}}\n"
    ((line, path, message),) = faults(unused)
    assert (line, path) == (5, "components.odd.parts.a.class")
    assert 'did you mean "reg"?' in message


def test_faults_of_form():
    """What is no definition at all is told when the architecture is read, beside its other faults."""
    with pytest.raises(InputError) as error:
        machine("\n  odd:\n    part: {}\n    parts: {a: {class: reg, count: [1]}}\n", level="clas: SRAM, depth: 3")
    texts = [str(fault) for fault in error.value.faults]
    assert [text.split(": ")[0] for text in texts] == [
        "made.yaml:4",
        "made.yaml:5",
        "made.yaml:6",
        "made.yaml:10",
        "made.yaml:10",
    ]
    assert 'the key "actions" is missing' in texts[0]
    assert 'unknown key "part"; did you mean "parts"?' in texts[1]
    assert "components.odd.parts.a.count: must be a number or an expression, got [1]" in texts[2]
    with pytest.raises(InputError, match="components: must be a mapping from the name of a class to its parts"):
        machine("\n  - odd")


def test_expressions_are_computed_where_they_are_used():
    """A name that is unknown, a division by zero, a count below 0: at the line of the expression, and for whom."""
    components = """
  odd:
    attributes: {bits: , width: bitts, height: 1 / (bits - 4)}
    parts: {a: {class: adder, count: bits - 9, attributes: {bits: bits}}}
    actions: {read: {a.add: 2 * bits}, write: {a.add: import os}}
"""
    found = faults(components, "class: odd, depth: 4, attributes: {bits: 4}")
    assert [line for line, _, _ in found] == [5, 5, 6, 7]
    assert "unknown name 'bitts'" in found[0][2]
    assert 'did you mean "bits"' in found[0][2]
    assert found[0][2].endswith("; used by BUF")
    assert "division by zero" in found[1][2]
    assert "must be at least 0, got 'bits - 9' = -5" in found[2][2]
    assert "not an expression: 'import os'" in found[3][2]


@pytest.mark.parametrize(
    ("level", "words"),
    [
        ("class: smart_bufer, depth: 4", 'BUF: for a built-in estimate.*did you mean "smart_buffer"'),
        (
            "class: vector_mac, depth: 4",
            "BUF: the class vector_mac must have the action read, write here; it has compute",
        ),
        (
            "class: smart_buffer, depth: 64, attributes: {bankss: 3}",
            "BUF: the class smart_buffer has no attribute 'bankss'",
        ),
        ("class: smart_buffer, depth: 64, ports: 3", "memory.class: ports must be one of 1, 2; got 3; used by BUF"),
        ("class: vector_mac, depth: 64, attributes: {lanes: 0}", "read, write"),
        ("class: smart_buffer, depth: 64, technology: 3nm", r"components.yaml:\d+: .*technology_nm must be 7 to 130"),
    ],
)
def test_a_component_that_does_not_fit_its_class(level, words):
    """What a component gives its class is checked: attributes, actions, sizes without an estimate."""
    with pytest.raises(InputError, match=words):
        default_table(machine(level=level))


def test_what_a_class_needs_must_be_given():
    """An attribute without a default is asked for by name."""
    with pytest.raises(InputError, match="MAC: the class vector_mac must be given lanes"):
        default_table(machine(compute="vector_mac"))
    with pytest.raises(InputError, match="division by zero: '1 / lanes'; used by MAC"):
        default_table(machine(compute="vector_mac", more=", attributes: {lanes: 0}"))


@pytest.mark.parametrize("order", [1, -1])
def test_classes_nested_without_end_are_refused(order):
    """Chains of classes are walked to a depth of 20 only, whichever end is written first."""
    chain = [
        f"  c{i}:\n    parts: {{a: {{class: {below}}}}}\n    actions: {{read: {{a.read: 1}}}}"
        for i, below in enumerate([*(f"c{i}" for i in range(1, 2001)), "reg"])
    ]
    found = faults("\n" + "\n".join(chain[::order]) + "\n")
    assert found
    assert all(message == "at most 20 classes inside one another" for _, _, message in found)


def test_parts_of_parts_are_estimated_once_each():
    """Twenty classes of ten parts each, every one of the class below, take no time."""
    chain = []
    for i in range(20):
        below = f"c{i + 1}" if i < 19 else "reg"
        parts = ", ".join(f"p{k}: {{class: {below}}}" for k in range(10))
        chain.append(f"  c{i}:\n    parts: {{{parts}}}\n    actions: {{read: {{p0.read: 1}}, write: {{p0.write: 1}}}}")
    told = default_table(machine("\n" + "\n".join(chain) + "\n", "class: c0, depth: 4")).levels[1]
    assert told.area_um2 == pytest.approx(5.98 * 10.0**20)


def test_compound_classes_and_the_engines(monkeypatch):
    """hwcomponents tells the memory inside a compound class too; a class of one's own is not passed on to Accelergy."""
    twice = closed_form.figures(lambda name: 2.0, "made up")
    monkeypatch.setattr("ruby_map.energy.table.cacti_memory", lambda place: lambda memory: twice)
    told = energy_table(machine(BUFFER, "class: pe_buffer, depth: 4096, width_bits: 64"), engine="hwcomponents").levels[
        1
    ]
    assert told.write_pj == pytest.approx(2.0488)
    with pytest.raises(InputError, match="BUF: the class pe_buffer of this architecture is not passed on"):
        description(machine(BUFFER, "class: pe_buffer, depth: 4"), "0.4")
