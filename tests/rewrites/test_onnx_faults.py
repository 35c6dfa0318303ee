"""What is refused of ONNX models whose tensors are to become terms: in the words of the model, all at once."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from ruby_map.mapper.rewrites.onnx import read_tensor_graph
from ruby_map.workloads import InputError

from .onnx_models import node, save, value


def faults(path, dims=None):
    with pytest.raises(InputError) as caught:
        read_tensor_graph(path, dims)
    return [f"{fault.path}: {fault.message}".removeprefix(": ") for fault in caught.value.faults]


def changed(path, change):
    """A model of a product and a Relu after a change of its proto."""
    save(path, [node("MatMul", "XW", "P"), node("Relu", "P", name="last")], {"X": (3, 4)}, [value("Y", (3, 2))],
         {"W": (4, 2)})  # fmt: skip
    model = onnx.load(path)
    change(model)
    path.write_bytes(model.SerializeToString())
    return path


def elsewhere(model):
    (weight,) = model.graph.initializer
    weight.data_location = TensorProto.EXTERNAL
    weight.ClearField("raw_data")
    entry = weight.external_data.add()
    entry.key, entry.value = "location", "weights.bin"


def sparse(model):
    (weight,) = model.graph.initializer
    words = numpy_helper.from_array(np.array([1.0], np.float32), "W")
    places = numpy_helper.from_array(np.array([3]), "places")
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(words, places, [4, 2]))
    model.graph.ClearField("initializer")


def with_sequence(model):
    model.graph.input.append(helper.make_tensor_sequence_value_info("S", TensorProto.FLOAT, None))


def with_dims(*dims):
    def change(model):
        model.graph.input[0].CopyFrom(value("X", dims))
        model.graph.output[0].CopyFrom(value("Y", (None, 2)))

    return change


def branches(model):
    body = helper.make_graph([node("Relu", "P", "Q")], "body", [], [value("Q", (3, 2))])
    model.graph.node.append(node("If", ["C"], "Z", name="choice", then_branch=body, else_branch=body))
    model.graph.input.append(value("C", (), TensorProto.BOOL))


def trained(model):
    step = model.training_info.add().algorithm
    step.name = "step"
    step.node.append(node("Relu", "A", "B"))
    step.output.append(value("B", (3,)))
    step.input.append(value("A", (3,)))


def old(model):
    model.opset_import[0].version = 6


REFUSED = {
    "data elsewhere": (elsewhere, "W: its data is in another file, which is not read: save the model as a single file"),
    "sparse": (sparse, "W: a sparse weight is not read: save it dense"),
    "a sequence": (with_sequence, "S: a tensor is expected, this is a sequence"),
    "dynamic": (with_dims("rows", 4), "X: a size of this input is dynamic; give it as --dim rows=SIZE"),
    "not said": (with_dims(None, 4), "X: a size of this input is not in the file"),
    "graphs": (branches, "If choice: has a graph inside, which is not read"),
    "training": (trained, "it holds steps of training, which would be lost"),
    "opset": (old, "operators of opset 7 or later are expected, this is 6: convert it with onnx.version_converter"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_read_is_refused(name, tmp_path):
    change, expected = REFUSED[name]
    assert faults(changed(tmp_path / "m.onnx", change)) == [expected]


def test_all_faults_are_named_at_once(tmp_path):
    def change(model):
        with_dims("rows", 4)(model)
        elsewhere(model)
        branches(model)

    assert [one.split(":")[0] for one in faults(changed(tmp_path / "m.onnx", change))] == ["W", "X", "If choice"]


def unread_attribute(model):
    model.graph.node[1].ClearField("input")


def short(model):
    model.graph.initializer[0].raw_data = b"123"


def backwards(model):
    nodes = list(model.graph.node)[::-1]
    model.graph.ClearField("node")
    model.graph.node.extend(nodes)


def unmade(model):
    model.graph.output.append(value("Z", (3,)))


def pads(model):
    model.graph.node.append(node("Conv", "IK", "Z", name="wide", pads=[1, 1]))
    model.graph.input.extend([value("I", (1, 2, 5, 5)), value("K", (2, 2, 3, 3))])
    model.graph.output.append(value("Z", (1, 2, 5, 5)))


def strange(model):
    model.graph.node[0].attribute.append(helper.make_attribute("rounding", 1))


INVALID = {
    "attribute": (strange, "not a valid ONNX model: .*rounding"),
    "operands": (unread_attribute, "not a valid ONNX model: .*input size 0"),
    "data": (short, "not a valid ONNX model: .*raw_data"),
    "order": (backwards, "not a valid ONNX model: .*topologically"),
    "output": (unmade, "nothing makes this output|not a valid"),
    "pads": (pads, "Conv wide: pads are .*4 are expected"),
}


@pytest.mark.parametrize("name", INVALID)
def test_a_model_that_is_none_is_refused(name, tmp_path):
    change, expected = INVALID[name]
    with pytest.raises(InputError, match=expected):
        read_tensor_graph(changed(tmp_path / "m.onnx", change))


def test_files_that_are_no_models_and_unknown_dims_are_refused(tmp_path):
    (tmp_path / "text.onnx").write_text("no model")
    assert "not an ONNX model" in faults(tmp_path / "text.onnx")[0]
    assert faults(tmp_path / "none.onnx") == ["no such file"]
    path = changed(tmp_path / "m.onnx", with_dims("rows", 4))
    assert faults(path, {"row": 3}) == ['no dynamic dim "row" in the model; did you mean "rows"?']
    assert read_tensor_graph(path, {"rows": 3}).inputs["X"].sizes == (3, 4)
