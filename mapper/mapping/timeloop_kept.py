"""What the memories of a mapping file keep, and below which tensor its loops stand."""

from collections.abc import Mapping, Sequence

import numpy as np

from ...arch import Architecture
from ...workloads import Keys
from ...workloads.timeloop import Reader, choices


class Kept:
    """What each memory keeps, at first all that it may: with uneven placement in the order of the workload."""

    def __init__(self, reader: Reader, arch: Architecture, tensors: Sequence[str]) -> None:
        self.reader, self.arch, self.tensors = reader, arch, tensors
        self.memories = {arch.levels[stack[-1]].of_memory: stack for stack in arch.stacks}
        self.keep = np.array([[name not in level.bypass for name in tensors] for level in arch.levels])
        self.keep[0] = [not arch.home(name) for name in tensors]  # (level, tensor)
        for stack in self.memories.values():
            if len(stack) > 1:
                self._place(stack)

    def put(self, path: Keys, target: str, lists: Mapping[str, Sequence[str]]) -> None:
        """Take in the lists `keep` and `bypass` of the entry at `path`, of tensors of the workload."""
        stack = self.memories[target]
        if len(stack) > 1:
            for name in lists["keep"]:
                if name in self.arch.levels[stack[0]].bypass:
                    self.reader.fault((*path, "keep"), f"{target} cannot keep {name}: the architecture bypasses it")
            self._place(stack, lists["keep"], lists["bypass"])
            return
        for key, names in lists.items():
            for name in names:
                self.keep[stack[0], self.tensors.index(name)] = key == "keep"

    def below(self, path: Keys, target: str) -> int:
        """The level whose loops the entry at `path` has: of uneven placement that of its tensor, else the last."""
        tensor, stack = self.reader.text((*path, "tensor")), self.memories[target]
        if tensor is None:
            return stack[-1]
        if len(stack) == 1:
            self.reader.fault((*path, "tensor"), f"{target} keeps all tensors above its loops: its placement is even")
        elif tensor not in self.tensors:
            self.reader.fault((*path, "tensor"), f"unknown tensor {tensor!r}{choices(tensor, self.tensors)}")
        else:
            at = [level for level in stack if self.keep[level, self.tensors.index(tensor)]]
            if at:
                return at[0]
            self.reader.fault((*path, "tensor"), f"{target} does not keep {tensor}")
        return stack[-1]

    def check_key(self, path: Keys, kind: str | None) -> None:
        """Report a tensor that an entry of another kind than temporal loops names."""
        if kind != "temporal" and self.reader.value((*path, "tensor")) is not None:
            self.reader.fault((*path, "tensor"), "only the loops of a level stand below a tensor (type temporal)")

    def _place(self, stack: range, keep: Sequence[str] = (), bypass: Sequence[str] = ()) -> None:
        """Keep tensors of a memory with uneven placement in this order, outermost first, then those it may keep."""
        resident = self.arch.levels[stack[-1]].resident
        without = self.arch.levels[stack[0]].bypass.union(bypass, resident)
        order = list(dict.fromkeys([*keep, *(name for name in self.tensors if name not in without)]))
        self.keep[stack.start : stack.stop] = False
        self.keep[stack[-1]] = [name in resident for name in self.tensors]
        for level, name in zip(
            reversed(stack), reversed([name for name in order if name not in resident]), strict=False
        ):
            self.keep[level, self.tensors.index(name)] = True
