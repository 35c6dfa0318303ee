"""Which network's mappings to try first: classes of layers, and the choice of transfer-tuning.

Source: Gibson and Cano, Transfer-Tuning (PACT 2022); equation 6.1 of Gibson's thesis: of all networks T the one with
the largest sum over classes c of P_c^2 * sqrt(|W_Tc|), P_c the share of class c in the target's time, W_Tc the source's
layers of that class. Squares and roots are the source's, found by trial.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from math import sqrt

from ...workloads import Rank, Workload


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


def source_scores(shares: Mapping[str, float], sources: Mapping[str, Iterable[str]]) -> dict[str, float]:
    """Score source networks by equation 6.1, the best first; of equal scores the first given.

    `shares`: the share of each class in the target's time; `sources`: the class of each layer of each network.
    """
    found = {}
    for name, classes in sources.items():
        number = Counter(classes)
        found[name] = sum(share**2 * sqrt(number[each]) for each, share in shares.items())
    return dict(sorted(found.items(), key=lambda item: -item[1]))
