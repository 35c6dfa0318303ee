"""Nothing is lost and nothing ends in a traceback: inputs, disks, pipes and processes that go wrong."""

import pytest
from ruby_map.mapper import command_map
from typer.testing import CliRunner

TOY = ("toy_6pe_linear", "rank1_100")


def run(app, *arguments):
    """Run a command in this process; an exception that it does not handle is a failure of the test."""
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.mark.parametrize(
    ("mapspace", "status", "words"), [("ruby-s", 0, "D in"), ("auto", 0, "D in"), ("ruby", 2, "tables of more than")]
)
def test_a_dim_of_a_million_millions_is_mapped_or_refused(tmp_path, mapspace, status, words):
    """No array is as long as a dim."""
    (tmp_path / "huge.yaml").write_text("name: h\nshape: rank1\nsizes: {D: 1000000000000}\n")
    done = run(command_map.main, TOY[0], tmp_path / "huge.yaml", "--samples", 500, "--mapspace", mapspace)
    assert done.exit_code == status
    assert words in done.output
