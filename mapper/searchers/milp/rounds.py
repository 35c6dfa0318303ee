"""One programme, solved round after round: each adds the tangents of its sums at the solution before.

Of the traffic, logarithms can say sums of products. A tile stays where it is while the loops outside it that move
concern other dims only. How far that goes is a matter of loop orders: a level favours one tensor, and the loops that do
not concern it stand innermost. Left out are overlaps of sliding windows, the hops of words, and what orders do for
other tensors. The exact model judges the mappings later.
"""

from collections.abc import Sequence
from functools import cache
from math import inf, log, prod

from ...bounds import MovementCost, charges, flows
from ...mapping import Bools, Floats, Ints
from ...search import Task
from .factors import Factors
from .log_sums import LogSum, Product
from .programme import Form, Programme, total

LEAST = 1e-3  # share of the price of a word that its first update, which needs no read, costs at least
TIE = 1e-3  # weight of what the objective leaves open
CLOSE = 1e-3  # of logarithms: as good as equal
ROOM = 1e-6  # of a memory


class Traffic:
    """Logarithms of energy and cycles as variables of the programme of some `factors`, and what they are at least."""

    def __init__(self, task: Task, factors: Factors) -> None:
        self.factors, self.programme, self.space = factors, factors.programme, task.space
        self._favoured: dict[int, list[Form]] = {}  # by level, the choices of tensors that it may favour
        self.favours, self.moves = cache(self._favours), cache(self._moves)
        arch, workload, keep = task.space.arch, task.space.workload, factors.keep
        self.cycles, self.energy_pj = (self.programme.variable(-inf) for _ in range(2))
        steps = total(factors.temporal(level, factors.dims) for level in range(len(arch.levels)))
        waits = [self._products(flow.charges) for flow in flows(arch, workload, keep, task.charges)]
        energies = self._products(charges(arch, workload, task.table, keep, task.charges))
        fixed = workload.macs * task.table.compute.mac_pj(workload)
        leak = task.charges.leak_pj_per_cycle(arch, task.table)
        energies += [Product(Form({}, log(fixed)))] if fixed else []
        energies += [Product(self.cycles + log(leak))] if leak else []
        for favoured in self._favoured.values():
            self.programme.require(total(favoured), most=1.0)
        # each is at most the variable beside it
        starts = [
            Product(total(factors.temporal(outer, factors.dims) for outer in range(level)) + log(cycles))
            for level, cycles in arch.starts
        ]
        self.sums = [(LogSum([*products, *starts]), self.cycles) for products in ([Product(steps)], *waits)]
        self.sums.append((LogSum(energies or [Product(Form())]), self.energy_pj))

    def goal(self, powers: tuple[int, int]) -> Form:
        """Return the logarithm of energy ** a * cycles ** b; of equal mappings the other is to be low, too."""
        a, b = (max(power, TIE) for power in powers)
        return self.energy_pj * a + self.cycles * b

    def _products(self, costs: Sequence[MovementCost]) -> list[Product]:
        return [self._product(charge) for charge in costs if charge.pj > 0]

    def _product(self, charge: MovementCost) -> Product:
        """Return the figure of a charge: its words times pJ, or cycles of the busiest instance."""
        factors, outside, v = self.factors, range(charge.child), self.space.workload.tensors.index(charge.tensor)
        relevant, irrelevant = self._dims(v)
        tile = factors.tile(charge.child, charge.tensor, charge.parent)
        again = total(factors.temporal(level, irrelevant) for level in outside) - self._stays(v, charge.child)
        form = tile.form + again + total(factors.temporal(level, relevant) for level in outside)
        form = form - Form({}, log(prod(charge.unit.box)))  # as if all words of a burst, or of a row, were of use
        form = form + factors.spatial(range(charge.level), () if charge.mean else factors.dims)
        most = self.programme.most(again)
        if not charge.first_pj or most <= 0:
            price = Form({}, log(max(charge.pj - charge.first_pj, LEAST * charge.pj)))
        else:  # a word that comes once is written, and read if it comes again
            first, more = max(charge.pj - charge.first_pj, LEAST * charge.pj), self.programme.choice()
            self.programme.require(again - more * most, most=0.0)
            price = more * log(charge.pj / first) + log(first)
        return Product(form + price, tile.windows)

    def _dims(self, v: int) -> tuple[list[int], list[int]]:
        """List the dims that concern a tensor, and the others."""
        workload = self.space.workload
        concern = [dim in workload.tensors[v].dims for dim in workload.dims]
        return [d for d in self.factors.dims if concern[d]], [d for d in self.factors.dims if not concern[d]]

    def _stays(self, v: int, child: int) -> Form:
        """Return the iterations outside a level through which its tile of a tensor stays: level by level outwards,
        until a loop moves it. At the MACs nothing stays."""
        iterations, moved = list[Form](), list[Form]()
        for level in reversed(range(child if child < len(self.space.arch.levels) else 0)):
            loops = self.factors.temporal(level, self._innermost(level, v))
            most = self.programme.most(loops)
            if most > 0:
                stays = self.programme.variable(0.0, most)
                self.programme.require(stays - loops, most=0.0)
                for hindered in (self.favours(level, v) * -1.0 + 1.0, *moved):
                    self.programme.require(stays + hindered * most, most=most)
                iterations.append(stays)
            moved += self.moves(level, v)
        return total(iterations)

    def _innermost(self, level: int, v: int) -> list[int]:
        """List the dims that do not concern a tensor and whose loops may stand innermost, none of its own inside."""
        order, (relevant, _) = self.space.orders.levels[level], self._dims(v)
        most, dims = self.factors.most[self.space.orders.temporal[level]], list[int]()
        for d in reversed(order.innermost):
            if d in relevant and most[d] > 1:
                return dims
            dims += [d] if d not in relevant else []
        return dims + [d for d in order.free if d not in relevant]

    def _favours(self, level: int, v: int) -> Form:
        """Return 1 where a level favours a tensor, else 0."""
        choice = self.programme.choice()
        self._favoured.setdefault(level, []).append(choice)
        return choice

    def _moves(self, level: int, v: int) -> list[Form]:
        """Return 1 where a loop of a level moves a tensor, else 0; nothing where none may."""
        loops = self.factors.temporal(level, self._dims(v)[0])
        most = self.programme.most(loops)
        if most <= 0:
            return []
        choice = self.programme.choice()
        self.programme.require(loops - choice * most, most=0.0)
        return [choice]


class Rounds:
    """The programme of one choice of kept tensors # (level, tensor), with the sizes that each dim may have."""

    def __init__(self, task: Task, keep: Bools, sizes: Sequence[Sequence[int]]) -> None:
        self.programme = Programme()
        self.factors = Factors(self.programme, task.space, keep, sizes)
        self.traffic = Traffic(task, self.factors)
        self.goal = self.traffic.goal(task.objective.powers)
        self.capacities = self.factors.capacities()
        for share in self.capacities:
            for form in share.floors():
                self.programme.require(form, most=0.0)
        for figure, variable in self.traffic.sums:
            for form in figure.floors():
                self.programme.require(form - variable, most=0.0)
        self.over = False  # whether a further round would bring nothing
        self.cut_off = False  # whether time was up for a solution
        self._best = inf  # the goal of the best solution that fits

    def solve(self, seconds: float) -> Ints | None:
        """Solve it once more, for so many seconds at most. # (slot, dim); None: no solution, or none in time"""
        solution = self.programme.solve(self.goal, seconds)
        self.cut_off |= solution.cut_off
        if solution.point is None:
            self.over = True
            return None
        self._add_tangents(solution.point)
        return self.factors.bounds(solution.point)

    def _add_tangents(self, point: Floats) -> None:
        """Add the tangents of what a solution has wrong; `over` where it is little, or one before is as good."""
        true, fits = point.copy(), True
        for share in self.capacities:
            if share.at(point) > ROOM:
                self.programme.require(share.tangent(point), most=0.0)
                fits = False
        for figure, variable in self.traffic.sums:
            (index,) = variable.factors
            value = figure.at(true)
            true[index] = value if figure is self.traffic.sums[0][0] else max(value, true[index])
            self.programme.require(figure.tangent(point) - variable, most=0.0)
        if fits:
            self._best = min(self._best, self.goal.at(true))
        self.over = self._best - self.goal.at(point) <= CLOSE
