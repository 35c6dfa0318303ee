"""Where the pages of the parts of a plan are."""

from ..plans import NetworkPlan

LONGEST = 60  # signs of the name of a layer in the name of a folder


def part_folders(plan: NetworkPlan) -> dict[int, str]:
    """The folder of each part with layers, by its number from 0: parts/03_first_last."""
    folders = {}
    for number, part in enumerate(plan.costs.plan.parts):
        if part.layers:
            names = dict.fromkeys((part.layers[0], part.layers[-1]))
            shown = "_".join(name.replace("/", "_")[:LONGEST] for name in names)
            folders[number] = f"parts/{number + 1:02d}_{shown}"
    return folders
