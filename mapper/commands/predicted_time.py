"""The cost model of `ruby-code --fastest`: the seconds that a machine's calibration predicts."""

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from ...arch import Architecture, with_roles
from ...workloads import Document, Workload
from ...workloads.templates import template_values
from ...workloads.timeloop import dense_part
from ..codegen import DATA_TYPES, Nest, ProgramCounts, predicted_seconds
from ..exploration import load
from ..mapping import read_mapping
from .guard import named_values
from .shared import placed_as


@dataclass(frozen=True)
class Question:
    """What the times are of."""

    arch: str
    workload: str
    more: list[str]
    placement: str
    roles: dict[str, str]
    dtype: str
    template: list[str]
    ignore_sparsity: bool

    @property
    def command(self) -> list[str]:
        """The command that answers."""
        return [sys.executable, "-m", __name__, json.dumps(asdict(self))]

    def inputs(self) -> tuple[Architecture, Workload]:
        """Read the machine and the layer."""
        with template_values(named_values(self.template)), dense_part(only=self.ignore_sparsity):
            machine, layer = load(self.arch, self.workload, [Path(name) for name in self.more])
        assert isinstance(layer, Workload)
        return with_roles(placed_as(machine, self.placement), self.roles), layer


def answer(line: str, machine: Architecture, layer: Workload, dtype: str) -> float | None:
    """The seconds of the mapping in a line."""
    mapping = read_mapping(Document("mapping", json.loads(line)["mapping"], {}), machine, layer)
    return predicted_seconds(ProgramCounts(Nest.of(mapping), DATA_TYPES[dtype]))


def main() -> None:
    """Answer each line with a line."""
    question = Question(**json.loads(sys.argv[1]))
    machine, layer = question.inputs()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(line, machine, layer, question.dtype)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
