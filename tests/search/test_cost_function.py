"""A Python function as the cost model: asked in this process, its errors are faults."""

import json

import pytest
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.proof import proposals
from ruby_map.mapper.store import Store
from ruby_map.workloads import InputError

TOY = ("toy_6pe_linear", "rank1_100", "ruby-s")
FEW = SearchOptions(strategy="random", samples=40)


@pytest.fixture(autouse=True, scope="module")
def a_short_evolution_by_our_model():
    """Before our model proposes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proposals, "GENERATIONS", 5)
        yield


def by_reads(question):
    """Words that leave DRAM."""
    return sum(tensor["reads"] for tensor in question["figures"]["levels"]["DRAM"]["tensors"].values())


@pytest.mark.parametrize("strategy", ["auto", "random", "evolve", "exhaustive"])
def test_the_least_value_wins_and_again(strategy):
    """The mapping with the least answer of all that were asked about; the same with the same seed."""
    asked = []

    def noted(question):
        json.dumps(question, allow_nan=False)
        asked.append(by_reads(question))
        return asked[-1]

    found = explore(*TOY, strategy=strategy, samples=40, cost_model=noted)
    assert found.answer.value == min(asked)
    assert found.answer.command.endswith("noted")
    assert found.statistics.evaluated == len(asked) <= 40
    first = list(asked)
    asked.clear()
    again = explore(*TOY, strategy=strategy, samples=40, cost_model=noted)
    assert asked == first
    assert (again.edp, again.answer.value) == (found.edp, found.answer.value)


def test_it_is_asked_what_a_command_is_asked(tmp_path):
    """The same mappings and figures, so that the same model as a function finds the same."""
    model = tmp_path / "model.py"
    model.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    figures = json.loads(line)['figures']\n"
        "    print(json.dumps(figures['energy_pj'] if figures['cycles'] < 40 else 'invalid'), flush=True)\n"
    )
    command = explore(*TOY, FEW, cost_model=["python3", str(model)])
    function = explore(
        *TOY, FEW, cost_model=lambda q: q["figures"]["energy_pj"] if q["figures"]["cycles"] < 40 else "invalid"
    )
    assert (function.answer.value, function.edp) == (command.answer.value, command.edp)
    assert function.statistics.invalid == command.statistics.invalid


def test_what_it_is_given_is_its_own():
    """A function that changes what it got changes no later question."""

    def careless(question):
        value = by_reads(question)
        question.clear()
        return value

    assert explore(*TOY, FEW, cost_model=careless).edp == explore(*TOY, FEW, cost_model=by_reads).edp


def test_an_exception_is_a_fault():
    """It names the function and the exception, which stands behind it; also after good answers."""
    calls = iter(range(100))

    def broken(question):
        return 1 / (10 - next(calls))

    with pytest.raises(InputError, match="broken raised ZeroDivisionError: division by zero") as error:
        explore(*TOY, FEW, cost_model=broken)
    assert isinstance(error.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("value", [None, "fast", -1, float("nan"), float("inf"), True, [1]])
def test_what_is_no_value_is_a_fault(value):
    """With what came and what may."""
    with pytest.raises(InputError, match='must return a finite number, 0 or more, or "invalid"; got'):
        explore(*TOY, FEW, cost_model=lambda question: value)


def test_what_does_not_go_with_a_function_is_a_fault(tmp_path):
    """It is called here, one mapping at a time, and no later run knows it again."""
    with Store(tmp_path / "s") as store, pytest.raises(InputError) as error:
        explore(*TOY, FEW, cost_model=by_reads, jobs=2, cost_timeout=5, store=store)
    assert {fault.source for fault in error.value.faults} == {"jobs", "cost-timeout", "store"}


def test_ctrl_c_in_the_function_keeps_the_best():
    """As anywhere in a search."""
    values = []

    def slow(question):
        if len(values) == 7:
            raise KeyboardInterrupt
        values.append(by_reads(question))
        return values[-1]

    found = explore(*TOY, FEW, cost_model=slow)
    assert found.answer.value == min(values)
    assert found.statistics.interrupted
