"""Faults put into counts, searches and proofs one at a time: does a test notice each? `python tests/mutants.py` tells.

Each is a change of one line that makes a bound too high, miscounts, or loses what should have been looked at. The tests
below run against a copy of the project with that change alone.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
TESTS = [
    "model/test_cost.py",
    "search/test_optimal_interrupted.py",
    "certificate/test_certificate.py",
    "search/test_optimal.py",
    "search/test_optimal_geometric.py",
    "search/test_optimal_front.py",
    "search/test_optimal_late.py",
    "search/test_flagged.py",
]


class Mutant(NamedTuple):
    """A change of one place of a file."""

    name: str
    file: str
    old: str
    new: str
    tests: Sequence[str] = TESTS  # that should notice it


MUTANTS = [
    Mutant(
        "nodes being opened are not among the open ones",
        "mapper/proof/branch_and_bound.py",
        "        nodes, bounds, coverage = self._opened(before",
        "        self.state = State("
        "before.nodes[unopened], before.bounds[unopened], before.closed_coverage, before.proof_log)\n"
        "        nodes, bounds, coverage = self._opened(before",
    ),
    Mutant(
        "a utilisation met exactly counts as missed",
        "mapper/bounds/relaxation.py",
        "possible &= least * value(inverse) <= 1 + ROUNDING",
        "possible &= least * value(inverse) < 1 - ROUNDING",
    ),
    Mutant(
        "single combinations that are opened are dropped",
        "mapper/proof/branch_and_bound.py",
        "np.concatenate([nodes[single], parts]), np.concatenate([bounds[single], below])",
        "parts, below",
    ),
    Mutant(
        "nodes a little below the limit are dropped",
        "mapper/proof/branch_and_bound.py",
        "keep, still = bounds < limit, unopened & (before.bounds < limit)",
        "keep, still = bounds < 0.9 * limit, unopened & (before.bounds < limit)",
    ),
    Mutant(
        "rows a little below the limit are ruled out",
        "mapper/proof/narrowing.py",
        "for product in new_products], incumbents) < limit",
        "for product in new_products], incumbents) < limit * 0.9",
    ),
    Mutant(
        "tiles that fill a capacity do not fit",
        "mapper/bounds/relaxation.py",
        "np.zeros(n)) <= capacity",
        "np.zeros(n)) < capacity",
    ),
    Mutant(
        "bounds of several levels add up",
        "mapper/bounds/charge_bounds.py",
        "least = np.maximum(least, reached)",
        "least = least + reached",
    ),
    Mutant(
        "a level always has an innermost loop",
        "mapper/bounds/relaxation.py",
        "products = {None: self.still[level]} | self.loops[level]",
        "products = self.loops[level]",
    ),
    Mutant(
        "of a level's innermost loops that which costs most counts",
        "mapper/bounds/relaxation.py",
        "reduce(np.minimum, (convert(*case) for case in cases))",
        "reduce(np.maximum, (convert(*case) for case in cases))",
    ),
    Mutant(
        "the innermost loops of two levels add their cycles twice",
        "mapper/bounds/loop_sums.py",
        "if other != level)",
        "if True)",
    ),
    Mutant(
        "a set's weights are taken for a better bound than they are",
        "mapper/bounds/set_ascent.py",
        "bound = float(constants[k] + sum(score.min() for score in scores)) - MARGIN",
        "bound = float(constants[k] + sum(score.mean() for score in scores)) - MARGIN",
        ["search/test_halving.py"],
    ),
    Mutant(
        "the terms of a charge count in a set as if they added up",
        "mapper/bounds/set_ascent.py",
        "share = _totals(weights[:, energy], terms.charges) / np.maximum(powers[:, :1], TINY)",
        "share = weights[:, energy] / np.maximum(powers[:, :1], TINY)",
        ["search/test_halving.py"],
    ),
    Mutant(
        "a half of a set is lost",
        "mapper/proof/half_sets.py",
        "for mask in (first, ~first)",
        "for mask in (first, first)",
        ["search/test_halving.py"],
    ),
    Mutant(
        "mappings without a loop at a level are lost where sets are divided by it",
        "mapper/proof/half_sets.py",
        "for d in self.choices[level]:",
        "for d in self.choices[level][1:]:",
        ["search/test_innermost_loops.py", "search/test_halving.py"],
    ),
    Mutant(
        "a set keeps rows without the innermost loop that it has",
        "mapper/bounds/innermost.py",
        "product = relaxed.still[level] if d == self.NONE else relaxed.loops[level][d]",
        "product = relaxed.still[level]",
        ["search/test_innermost_loops.py"],
    ),
    Mutant(
        "innermost loops that a set may have count as if it had them",
        "mapper/bounds/innermost.py",
        "(of == d).astype(float)",
        "((of == d) | (of == self.ANY)).astype(float)",
        ["search/test_innermost_loops.py"],
    ),
    Mutant(
        "terms of innermost loops count in sets without them",
        "mapper/bounds/weighted_terms.py",
        "holds = (self.loop_levels < 0) | (loops[:, self.loop_levels] == self.loop_dims)",
        "holds = (self.loop_levels < 0) | (loops[:, self.loop_levels] != -2)",
        ["search/test_innermost_loops.py"],
    ),
    Mutant(
        "an energy without terms counts as 1 pJ",
        "mapper/bounds/set_ascent.py",
        "(powers[:, i] > 0) & ~self.used[:, part].any(axis=1)",
        "(powers[:, i] < 0) & ~self.used[:, part].any(axis=1)",
        ["search/test_innermost_loops.py"],
    ),
    Mutant(
        "of the innermost loops of a combination the first alone are tried",
        "mapper/proof/loop_choices.py",
        "promising[owner] = True",
        "promising[owner[which == 0]] = True",
        ["search/test_innermost_loops.py"],
    ),
    Mutant(
        "shared columns of innermost loops have the numbers that they have for all choices",
        "mapper/bounds/charge_bounds.py",
        "innermost=tuple({d: by(product) for d, product in products.items()} for products in self.innermost),",
        "innermost=self.innermost,",
        ["bounds/test_shared_columns.py"],
    ),
    Mutant(
        "a tile takes more of a capacity than it does",
        "mapper/bounds/geometric.py",
        "Term(name, bits / capacity, tile, k)",
        "Term(name, 1.2 * bits / capacity, tile, k)",
    ),
    Mutant(
        "a first update is read like any other",
        "mapper/bounds/charge_bounds.py",
        "return self.charge.pj - self.charge.first_pj / max(again, 1.0)",
        "return self.charge.pj",
    ),
    Mutant(
        "drained words are read more than once",
        "mapper/bounds/charges.py",
        "drain_pj = share * figures.read_pj if",
        "drain_pj = 1.5 * share * figures.read_pj if",
    ),
    Mutant(
        "a point is reached where two mappings together reach it",
        "mapper/search/outcome/evidence.py",
        "return np.asarray(np.maximum(before, after))",
        "return np.asarray(before + after)",
    ),
    Mutant(
        "a front keeps what another mapping beats",
        "mapper/proof/incumbents.py",
        "stay = ~dominated(np.stack([self.cycles, self.energy_pj]).T, [(cycles, energy_pj)])",
        "stay = np.ones(len(self.cycles), bool)",
    ),
    Mutant(
        "the worst orders are taken for the best",
        "mapper/proof/best_orders.py",
        "which = savings.argmax(axis=0)",
        "which = savings.argmin(axis=0)",
    ),
    Mutant(
        "loops that stand in front are forgotten",
        "mapper/proof/best_orders.py",
        "self.saved(d, front | (chosen - {d}))",
        "self.saved(d, chosen - {d})",
    ),
    Mutant(
        "chains with too many orders count as settled",
        "mapper/proof/leaves.py",
        "self.unresolved = min(self.unresolved, float(bounds[i]))",
        "pass",
    ),
    Mutant(
        "the count for all children bounds flagged reads",
        "mapper/bounds/rank_words.py",
        "exact & ~meets if mean else exact",
        "everywhere",
    ),
    Mutant(
        "what waits for a bandwidth does not leak",
        "mapper/model/cost.py",
        "leak = floats(cycles) * leak_pj",
        "leak = floats(counts.cycles) * leak_pj",
    ),
    Mutant(
        "the checker takes a bound above the mapping",
        "mapper/certificate/checker/verify.py",
        "if not 0 <= stage.lower_bound <= value:",
        "if not 0 <= stage.lower_bound:",
    ),
    Mutant(
        "the checker takes it that chains that are not listed are ruled out, where they are very many",
        "mapper/certificate/checker/cover.py",
        "rows = [np.union1d(near, own) for near, own in zip(remaining, listed, strict=True)]",
        "rows = listed",
        ("certificate/test_certificate.py",),
    ),
    Mutant(
        "trees that grow again forget what the old ones proved",
        "mapper/proof/keep_choice.py",
        "return max(grown, key=lambda trees: trees.least, default=None)",
        "return self.branching",
        ("certificate/test_long_proofs.py",),
    ),
    Mutant(
        "what a search records is an upper bound",
        "mapper/search/values.py",
        "        if len(flagged):",
        "        if len(flagged) > 10**9:",
    ),
    Mutant(
        "words that pass an array are those of the closed form",
        "mapper/model/recount.py",
        "for passing in () if crossed.exact[0] else passings(batch):",
        "for passing in ():",
    ),
    Mutant(
        "words that pass an array count as exact",
        "mapper/model/nests/crossings.py",
        "exact[where] &= flow.exact()",
        "exact[where] &= True",
    ),
    Mutant(
        "stores take machines with other MACs for the same",
        "mapper/problem/problem.py",
        '                "mac_word_bits": self.arch.compute.word_bits,\n',
        "",
        ("store/test_store.py",),
    ),
    Mutant(
        "rows of a checkpoint are read whatever their checksums",
        "mapper/runtime/state_file.py",
        "                if row[-1] == checksum(row[:-1]):",
        "                if True:",
        ("runtime/test_state_file.py",),
    ),
    Mutant(
        "rows of a checkpoint are not looked at before the run",
        "mapper/runtime/checkpoint.py",
        'self._file.rows("search")  # all of them are sound, or nothing is done',
        "pass",
        ("runtime/test_state_file.py",),
    ),
    Mutant(
        "a layer counts once in the bound of its network's energy or delay",
        "mapper/report/proof_text.py",
        "return sum(count * bound for bound, count in layers)",
        "return sum(bound for bound, count in layers)",
        ("report/test_network_counts.py",),
    ),
    Mutant(
        "a layer counts once in the bound of its network's EDP",
        "mapper/report/network_result.py",
        "edp_bound([result.needs(count) for result, count in self.layers])",
        "edp_bound([result.needs(1) for result, count in self.layers])",
        ("report/test_network_counts.py",),
    ),
    Mutant(
        "a stage that was asked for and not proven is forgotten",
        "mapper/certificate/checker/verify.py",
        "for name in layer.objectives[len(verified) :]):",
        "for name in layer.objectives[:0]):",
        ("certificate/test_asked_for.py",),
    ),
    Mutant(
        "a group computes again what a retained loop kept",
        "mapper/fusion/intervals.py",
        "return replace(self, low=np.minimum(np.maximum(self.low, before[:-1]), np.maximum(self.high, self.low)))",
        "return self",
        ("fusion/test_counts.py",),
    ),
    Mutant(
        "a word between stages leaves the keeper a step early",
        "mapper/fusion/held_words.py",
        "return later + int(loop.old[step]) * self._ends(steps, place + 1, after)",
        "return later + 0 * self._ends(steps, place + 1, after)",
        ("fusion/test_counts.py",),
    ),
    Mutant(
        "a kept tensor comes anew when a loop inside begins anew",
        "mapper/fusion/held_words.py",
        "moved -= same * own.stays * prod(other.turn for other in sequence[place + 1 :])",
        "moved -= same * own.stays * (place + 1 == len(sequence))",
        ("fusion/test_counts.py",),
    ),
    Mutant(
        "sums of the output of a group begin empty in every step",
        "mapper/fusion/steps.py",
        "columns = [box.dims[dim].lengths for dim in moved] + [(np.arange(trips) > 0) & counted]",
        "columns = [box.dims[dim].lengths for dim in moved] + [np.arange(trips) > trips]",
        ("fusion/test_counts.py", "fusion/test_plans.py"),
    ),
    Mutant(
        "a softmax passes over its words once for all steps",
        "mapper/fusion/costs.py",
        "energy, cycles = energy + number * pj, cycles + number * took",
        "energy, cycles = energy + pj, cycles + took",
        ("fusion/test_plans.py", "fusion/test_search.py"),
    ),
    Mutant(
        "what stands in the keeper takes no room",
        "mapper/fusion/machine.py",
        "return None if usable is None else usable - self.standing_bits(stage)",
        "return usable",
        ("certificate/test_groups.py", "fusion/test_search.py"),
    ),
    Mutant(
        "kept tensors move no words in the bounds of a search of groups, and none in the answer",
        "mapper/fusion/costs.py",
        "return self.transfer_pj + self.pass_pj",
        "return self.pass_pj",
        ("fusion/test_plans.py", "fusion/test_search.py"),
    ),
    Mutant(
        "the checker of groups prices no operators",
        "mapper/certificate/checker/groups/verify.py",
        "return pj + pass_pj, float(took + passing)",
        "return pj, float(took)",
        ("certificate/test_groups.py",),
    ),
    Mutant(
        "the checker of groups lets a kept tensor move words between the steps of a stride",
        "mapper/certificate/checker/groups/walks.py",
        "every = own if term.dim in moved else range(min(own), max(own) + 1) if own else own",
        "every = range(min(own), max(own) + 1) if own else own",
        ("certificate/test_groups.py",),
    ),
    Mutant(
        "a tensor is needed in the first step alone where one of its readers is",
        "mapper/fusion/intervals.py",
        "once = frozenset.intersection(*(computed[link.consumer].once for link in links))",
        "once = frozenset.union(*(computed[link.consumer].once for link in links))",
        ("fusion/test_counts.py",),
    ),
    Mutant(
        "along one dim a pass shares nothing with the next",
        "mapper/model/nests/contexts.py",
        "total = total + times.astype(self.numbers) * shared",
        "total = total + 0 * times.astype(self.numbers) * shared",
        ("model/test_ranks.py",),
    ),
    Mutant(
        "a shared bandwidth limits reads alone",
        "arch/bandwidth.py",
        "            return reads + writes\n",
        "            return reads\n",
        ["model/test_shared_bandwidth.py"],
    ),
    Mutant(
        "a word that is read and written waits once for a shared bandwidth",
        "mapper/proof/slow_orders.py",
        "yield _Moved(i, float(words), charge",
        "yield _Moved(i, 1.0, charge",
        ["search/test_slow_orders.py"],
    ),
    Mutant(
        "the checker counts words of a shared bandwidth twice",
        "mapper/certificate/checker/orders.py",
        ".astype(float).sum(axis=1)\n",
        ".astype(float).sum(axis=1) * (1 + (limit.kind == 'shared'))\n",
        ["certificate/test_checked_orders.py"],
    ),
    Mutant(
        "words beside layers do not wait for a shared bandwidth",
        "mapper/model/exactness.py",
        "for limit in level.bandwidths)\n    return max((int(",
        "for limit in level.bandwidths if limit.kind != 'shared')\n    return max((int(",
        ["fusion/test_shared_bandwidth.py"],
    ),
    Mutant(
        "the roofline takes reads alone for a shared bandwidth",
        "mapper/report/roofline.py",
        "number := limit.of(*words)",
        "number := words[limit.kind == 'write']",
        ["model/test_usage.py"],
    ),
    Mutant(
        "a fit is judged on the layers that it was fitted to",
        "mapper/calibration/fit.py",
        "return np.flatnonzero(known), np.flatnonzero(~known)",
        "return np.flatnonzero(known), np.flatnonzero(known)",
        ("calibration",),
    ),
    Mutant(
        "tiles at the spatial origin forget the last path",
        "mapper/calibration/terms.py",
        "inside, last = inside + last * (digit > 0), last * (digit == 0)",
        "inside, last = inside + last * (digit > 0), last",
        ("calibration",),
    ),
    Mutant(
        "words of a fit are those of all instances",
        "mapper/calibration/terms.py",
        "return every / max(1.0, float(counts.instances[0, memory]))",
        "return every",
        ("calibration",),
    ),
    Mutant(
        "a network is predicted as each of its layers once",
        "mapper/calibration/prediction.py",
        "sum(count * (own.cycles or 0.0) for own, count in known)",
        "sum(own.cycles or 0.0 for own, count in known)",
        ("commands/test_fit_command.py",),
    ),
    Mutant(
        "Ctrl-C before the choice for a network is not told",
        "mapper/exploration/network.py",
        "return {number: _interrupted(result) for number, result in results.items()}\n    together = None",
        "return results\n    together = None",
        ("exploration/test_layers.py",),
    ),
    Mutant(
        "tiles that begin are those of one level further in",
        "mapper/model/nests/nest_analysis.py",
        "cycles * self.steps(level) for level, cycles",
        "cycles * self.steps(level + 1) for level, cycles",
        ("model/test_starts.py",),
    ),
    Mutant(
        "a slow level hides the starts",
        "mapper/model/cost.py",
        "level_cycles[:, level] + counts.starts)",
        "level_cycles[:, level])",
        ("model/test_starts.py",),
    ),
    Mutant(
        "a bound counts starts twice",
        "mapper/bounds/relaxation.py",
        "cycles = cycles + start * value(tiles)",
        "cycles = cycles + 2 * start * value(tiles)",
        ("model/test_starts.py",),
    ),
    Mutant(
        "orders of slow levels forget the starts",
        "mapper/proof/slow_orders.py",
        "        cycles = cycles + self.starts\n",
        "",
        ("search/test_slow_orders.py", "search/test_bandwidth.py", "model/test_starts.py"),
    ),
    Mutant(
        "the checker bounds starts by those of one level further in",
        "mapper/certificate/checker/columns.py",
        "partial(_steps, boundary=memory.levels[0])",
        "partial(_steps, boundary=memory.levels[-1] + 1)",
        ("model/test_starts.py", "certificate/test_certificate.py"),
    ),
    Mutant(
        "the checker's orders forget the starts",
        "mapper/certificate/checker/orders.py",
        "* (1 - ROUNDED)) + starts)",
        "* (1 - ROUNDED)))",
        ("certificate",),
    ),
    Mutant(
        "weighted products have starts that are no share of a flow",
        "mapper/bounds/weighted_terms.py",
        "yield _Term(prefix + name, float(cycles), tiles, owner, number)",
        "yield _Term(prefix + name, float(cycles), tiles, owner, -7)",
        ("search/test_innermost_loops.py",),
    ),
    Mutant(
        "a layout that is a little better is passed over",
        "mapper/proof/prove.py",
        "Start(near, below=value)",
        "Start(near, below=0.95 * value)",
        ("exploration/test_layouts.py",),
    ),
    Mutant(
        "layouts that nobody looked at have no bound",
        "mapper/exploration/layouts.py",
        "        if len(self.least) == self.number:\n            return inf",
        "        if True:\n            return inf",
        ("exploration/test_layouts.py",),
    ),
    Mutant(
        "layouts are alike where their bursts are",
        "mapper/exploration/layouts.py",
        "    different = {level.blocks(workload, tensor): Layout()}",
        "    level = replace(level, dram=replace(level.dram, row_bits=None))\n"
        "    different = {level.blocks(workload, tensor): Layout()}",
        ("exploration/test_layouts.py",),
    ),
    Mutant(
        "tiles that begin with a burst count it twice",
        "mapper/model/nests/blocked_ranks.py",
        "after - first + multiples - at_starts, 0)",
        "after - first + multiples, 0)",
        ("model/test_dram.py",),
    ),
    Mutant(
        "single tiles lie in the last step of a loop alone",
        "mapper/model/nests/blocked_ranks.py",
        "        begins = number >= 0\n",
        "        begins = number >= last\n",
        ("model/test_dram.py",),
    ),
    Mutant(
        "a burst at the end of what is held is not new",
        "mapper/model/nests/intervals.py",
        "last // block, (right + 1) // block - 1)",
        "last // block, right // block)",
        ("model/test_dram.py",),
    ),
    Mutant(
        "partial sums are read back in all their bursts",
        "mapper/model/counts.py",
        "(moved - movement.distinct if tensor.begins_empty else moved), moved",
        "moved, moved",
        ("model/test_dram.py",),
    ),
    Mutant(
        "words of a DRAM pass its bandwidths, not those of bursts",
        "mapper/model/counts.py",
        'columns.add("origin_reads", (parent,), words * reads)',
        'columns.add("origin_reads", (parent,), reads)',
        ("model/test_dram.py",),
    ),
    Mutant(
        "a bound of bursts is that of words",
        "mapper/bounds/dim_groups.py",
        "block = charge.unit.box[charge.tensor.ranks.index(rank)] if charge.unit.box else 1",
        "block = 1",
        ("model/test_dram.py",),
    ),
    Mutant(
        "outputs open rows once in a bound too many",
        "mapper/bounds/charges.py",
        "row_pj = dram.activate_pj * (1 + tensor.output)",
        "row_pj = dram.activate_pj * (1 + 2 * tensor.output)",
        ("model/test_dram.py",),
    ),
    Mutant(
        "a recount leaves the bursts as they are",
        "mapper/model/recount.py",
        "burst_reads[0, v] = words(batch, tensor, parent, child, box=blocks.burst)",
        "words(batch, tensor, parent, child, box=blocks.burst)",
        ("model/test_dram.py",),
    ),
    Mutant(
        "the checker forgets refresh",
        "mapper/certificate/checker/columns.py",
        "self.leak_pj = refresh_pj(problem.arch)",
        "self.leak_pj = 0.0",
        ("model/test_dram.py",),
    ),
    Mutant(
        "the machine of a set has the most energy of its designs",
        "mapper/designs/space.py",
        "least = self.needs[:, rows].min(axis=1)",
        "least = self.needs[:, rows].max(axis=1)",
        ("designs/test_relaxed.py",),
    ),
    Mutant(
        "the machine of a set has the least capacity of its designs",
        "mapper/designs/relaxed.py",
        "_rounded_up(level.usable_bits), True, 0.3)",
        "_rounded_up(level.usable_bits), False, 0.3)",
        ("designs/test_relaxed.py",),
    ),
    Mutant(
        "leakage of a set is that of its larger array",
        "mapper/designs/relaxed.py",
        "leak_pj_per_cycle=leak / made.instances(i))",
        "leak_pj_per_cycle=leak)",
        ("designs/test_relaxed.py",),
    ),
    Mutant(
        "a wider level is no other kind of design",
        "mapper/designs/relaxed.py",
        "capacity_bits=None, start_cycles=0,",
        "width_bits=16, capacity_bits=None, start_cycles=0,",
        ("designs/test_relaxed.py",),
    ),
    Mutant(
        "a design with a tenth more than the best is closed",
        "mapper/designs/standing.py",
        "potential * (1 - self.wanted.gap) > 1 + ROUNDING)",
        "potential * (1 - self.wanted.gap) > 1.1)",
        ("designs/test_standing.py",),
    ),
    Mutant(
        "a design of any area is closed by a better one",
        "mapper/designs/standing.py",
        "np.where(own <= lower, 0.0, np.inf), _factors(own, lower))",
        "0.0, _factors(own, lower))",
        ("designs/test_standing.py",),
    ),
    Mutant(
        "any mapping known of a larger set is the best of a part",
        "mapper/exploration/sets/within.py",
        "        if value * (1 - gap) > known.lower_bound * (1 + ROUNDING):",
        "        if value * (1 - gap) > 2 * known.lower_bound:",
        ("designs/test_optimise.py",),
    ),
    Mutant(
        "a design is outdone by one of more area",
        "mapper/designs/outdone.py",
        "    scores = [score for question in wanted.questions for score in question]",
        "    scores = [score for question in wanted.questions for score in question if score.power]",
        ("designs/test_optimise.py",),
    ),
    Mutant(
        "a bound holds for designs that allow more",
        "mapper/designs/space.py",
        "every[needs[every] >= needs[rows].min()]",
        "every[needs[every] <= needs[rows].max()]",
        ("designs/test_optimise.py",),
    ),
    Mutant(
        "the limits of a set are the tightest of its designs",
        "mapper/sweeps/optimise.py",
        "PowerLimit(own[0][0], max(most for _, most in own))",
        "PowerLimit(own[0][0], min(most for _, most in own))",
        ("designs/test_optimise.py",),
    ),
    Mutant(
        "what was found without limits is taken up with them",
        "mapper/sweeps/plan.py",
        "if self.question.other_limits else []",
        "if False else []",
        ("designs/test_optimise.py",),
    ),
    Mutant(
        "a design is outdone where plans are searched",
        "mapper/sweeps/optimised.py",
        "or apart or candidates.plan.fuse != NONE",
        "or apart",
        ("sweeps/test_sweep_plans.py",),
    ),
    Mutant(
        "a machine without plans is compared by its layers one by one",
        "mapper/sweeps/pieces.py",
        "        if has_graph(study.work):",
        "        if not why_no_plan(study):",
        ("sweeps/test_sweep_plans.py",),
    ),
]


# the copy's ruby_map, and not the one that is installed
BEGIN = """
import sys
sys.path.insert(0, sys.argv.pop(1))
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in str(finder)]
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""


def run(mutant: Mutant | None) -> tuple[bool, str, float]:
    """Whether a test notices it, which, and after how many seconds; None: nothing is changed."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__", "results"))
        if mutant:
            path = copy / mutant.file
            text = path.read_text()
            assert text.count(mutant.old) == 1, f"{mutant.file} has {text.count(mutant.old)} places of {mutant.old!r}"
            path.write_text(text.replace(mutant.old, mutant.new))
        (copy / "ruby_map").mkdir(exist_ok=True)
        for part in ("workloads", "arch", "energy", "mapper"):
            (copy / "ruby_map" / part).symlink_to(copy / part)
        tests = [str(copy / "tests" / name) for name in (mutant.tests if mutant else TESTS)]
        command = [sys.executable, "-c", BEGIN, str(copy), "-x", "-q", "--no-header", *tests]
        found = subprocess.run(command, cwd=copy, capture_output=True, text=True)
    failed = [line for line in found.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    where = (failed or ["all passed"])[0].split(" - ")[0].rpartition("/")[2]
    return found.returncode != 0, where, time.monotonic() - began


def main() -> int:
    """Try all, or those whose names contain every argument; status 1 where one survives."""
    survived = 0
    for mutant in [None, *MUTANTS]:
        if mutant is None or all(word in mutant.name for word in sys.argv[1:]):
            noticed, where, seconds = run(mutant)
            wrong = noticed == (mutant is None)
            survived += wrong
            told = "noticed" if noticed else "SURVIVED" if mutant else "passed"
            sys.stdout.write(f"{told}  {mutant.name if mutant else 'nothing changed'}: {where} ({seconds:.0f} s)\n")
            sys.stdout.flush()
    return int(survived > 0)


if __name__ == "__main__":
    sys.exit(main())
