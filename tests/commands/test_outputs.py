"""No command writes over a file that it reads, and over files that it did not write only with `--force`."""

import os
import shutil
from pathlib import Path

import pytest
from ruby_map.mapper.commands import ruby_code, ruby_energy, ruby_export, ruby_import, ruby_map, ruby_report, ruby_store
from typer.testing import CliRunner

MINE = "years of work\n"
INPUTS = ("arch.yaml", "problem.yaml", "mapping.yaml", "store.sqlite", "m.onnx")


def run(app, *arguments):
    return CliRunner().invoke(app.main, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A machine, a layer, a mapping of it, a store, a folder of results, a model."""
    onnx = pytest.importorskip("onnx")
    place = tmp_path_factory.mktemp("written")
    library = Path(ruby_map.__file__).parents[2]
    shutil.copy(library / "arch/toy_6pe_linear.yaml", place / "arch.yaml")
    (place / "problem.yaml").write_text("{name: problem, shape: matmul, sizes: {M: 6, N: 4, K: 5}}\n")
    both = place / "arch.yaml", place / "problem.yaml"
    done = run(ruby_map, *both, "--search", "optimal", "--out", place / "found", "--store", place / "store.sqlite")
    assert done.exit_code == 0, done.output
    shutil.copy(place / "found/mapping.yaml", place)
    product = onnx.helper.make_node("MatMul", ["A", "B"], ["C"])
    tensors = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2, 2]) for name in "ABC"]
    onnx.save(
        onnx.helper.make_model(onnx.helper.make_graph([product], "g", tensors[:2], tensors[2:])), place / "m.onnx"
    )
    return place


@pytest.fixture
def place(written, tmp_path, monkeypatch):
    """A copy of these to stand in."""
    shutil.copytree(written, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


FILES = {  # commands that write a file
    "certificate": (ruby_map, ["arch.yaml", "problem.yaml", "--search", "optimal", "--certificate"]),
    "ert": (ruby_energy, ["arch.yaml", "--write-ert"]),
    "art": (ruby_energy, ["arch.yaml", "--write-art"]),
    "page": (ruby_report, ["found", "--out"]),
    "store": (ruby_store, ["store.sqlite", "export", "--out"]),
    "network": (ruby_import, ["m.onnx", "--out"]),
}
READ = {  # by each
    "certificate": "arch.yaml",
    "ert": "arch.yaml",
    "art": "arch.yaml",
    "page": "found/stats.json",
    "store": "store.sqlite",
    "network": "m.onnx",
}
SUFFIX = {"page": ".html", "network": ".yaml"}
FOLDERS = {  # commands that write files into a folder, and one of them
    "export": (ruby_export, ["arch.yaml", "problem.yaml", "mapping.yaml", "--out"], "arch.yaml"),
    "tables": (ruby_report, ["found", "--format", "csv", "--files"], "cases.csv"),
    "program": (ruby_code, ["eyeriss_like", "problem.yaml", "--time-limit", "1", "--out"], "kernel.c"),
}


def everything(place):
    return {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}


@pytest.mark.parametrize("what", FILES)
def test_a_file_of_the_users_is_left_alone(place, what):
    """Nothing is printed or changed; with --force it is replaced; the command's own file is, without."""
    app, arguments = FILES[what]
    file = place / f"notes{SUFFIX.get(what, '.txt')}"
    file.write_text(MINE)
    before = everything(place)
    done = run(app, *arguments, file)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "give --force to replace it" in done.stderr
    assert everything(place) == before
    assert run(app, *arguments, file, "--force").exit_code == 0
    assert file.read_text() != MINE
    again = run(app, *arguments, file)
    assert again.exit_code == (2 if what == "network" else 0), again.output  # which a user goes on to edit


@pytest.mark.parametrize("name", ["itself", "./it", "a symbolic link", "a hard link"])
@pytest.mark.parametrize("what", FILES)
def test_an_input_is_never_written_over(place, what, name):
    """Under no name, not with --force, and nothing is searched before that is said."""
    app, arguments = FILES[what]
    read = place / READ[what]
    out = read.parent / f"link{SUFFIX.get(what, '.txt')}"
    if name == "a symbolic link":
        out.symlink_to(read)
    elif name == "a hard link":
        os.link(read, out)
    elif what == "page":
        pytest.skip("a page has another suffix")
    else:
        out = f"{read.parent}/./{read.name}" if name == "./it" else read
    before = everything(place)
    done = run(app, *arguments, out, "--force")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "is read by this command" in done.stderr
    assert everything(place) == before


@pytest.mark.parametrize("what", FOLDERS)
def test_files_of_the_users_in_a_folder_are_left_alone(place, what):
    """Files that the command wrote are replaced by it; not once they are changed."""
    app, arguments, name = FOLDERS[what]
    out = place / "out"
    out.mkdir()
    (out / name).write_text(MINE)
    (out / "notes.txt").write_text(MINE)
    done = run(app, *arguments, out)
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"{out / name}: exists, and ruby-" in done.stderr
    assert {path.name for path in out.iterdir()} == {name, "notes.txt"}
    assert run(app, *arguments, out, "--force").exit_code == 0
    assert (out / name).read_text() != MINE
    assert run(app, *arguments, out).exit_code == 0
    with (out / name).open("a") as file:
        file.write(MINE)
    done = run(app, *arguments, out)
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"{out / name}: was changed since ruby-" in done.stderr
    assert (out / name).read_text().endswith(MINE)
    assert (out / "notes.txt").read_text() == MINE


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_an_export_beside_its_inputs_is_refused(place, force):
    """Every file that is in the way, at once."""
    before = everything(place)
    done = run(ruby_export, "arch.yaml", "problem.yaml", "mapping.yaml", "--out", ".", *force)
    assert done.exit_code == 2
    for name in ("arch.yaml", "problem.yaml", "mapping.yaml"):
        assert f"out: {name}: is read by this command: name another folder" in done.stderr
    assert everything(place) == before


def test_two_outputs_are_two_files(place):
    done = run(ruby_energy, "arch.yaml", "--write-ert", "e.yaml", "--write-art", "./e.yaml")
    assert done.exit_code == 2
    assert "write-art: e.yaml: is written by write-ert, too" in done.stderr
    assert not (place / "e.yaml").exists()


def test_a_link_stays_a_link(place):
    """What it points to is written."""
    (place / "latest.json").symlink_to(place / "c.json")
    assert run(*FILES["certificate"][:1], *FILES["certificate"][1], "latest.json").exit_code == 0
    assert (place / "latest.json").is_symlink()
    assert (place / "c.json").read_text().startswith('{"format":')


def test_a_manifest_names_files_of_its_own_folder_alone(place):
    """A manifest that someone made removes nothing elsewhere."""
    app, arguments, _ = FOLDERS["program"]
    assert run(app, *arguments, "out").exit_code == 0
    manifest = place / "out/.ruby-code.json"
    other = place / "notes.txt"
    other.write_text(MINE)
    digest = manifest.read_text().split('"kernel.c": "')[1][:64]
    manifest.write_text(manifest.read_text().replace('"kernel.c"', '"../notes.txt"'))
    for content in (manifest.read_text(), manifest.read_text().replace(digest, "0" * 64), "[]", "{", "\0"):
        manifest.write_text(content)
        done = run(app, *arguments, "out")
        assert done.exit_code == 2
        assert "kernel.c: exists, and ruby-code did not write it" in done.stderr
        assert other.read_text() == MINE


def test_files_added_to_a_folder_of_results_stay(place):
    """A run that goes on replaces its own files, in folders inside too, and no other."""
    arguments = ["arch.yaml", "problem.yaml", "--search", "exhaustive", "--front", "energy,delay", "--out", "front"]
    assert run(ruby_map, *arguments).exit_code == 0
    files = sorted((place / "front/front").iterdir())
    after = place / "front/front" / f"{len(files) + 1:03d}.yaml"
    after.write_text("of a longer front, before")
    (place / "front/front/notes.txt").write_text(MINE)
    done = run(ruby_map, *arguments, "--resume")
    assert done.exit_code == 0, done.output
    assert (place / "front/front/notes.txt").read_text() == MINE
    assert sorted((place / "front/front").glob("*.yaml")) == files
