"""Each line of the tables of renderers, on a layer, a network, a sweep, and on results with nothing to draw."""

from dataclasses import replace

import pytest
from matplotlib.figure import Figure
from ruby_map.arch import load_arch
from ruby_map.mapper import NetworkResult, SearchOptions, explore, sweep
from ruby_map.mapper.report.renderers import OF_LAYER, OF_NETWORK
from ruby_map.mapper.sweeps.renderers import OF_SWEEP
from ruby_map.workloads import InputError

SWEEP = """
architecture: toy_6pe_linear
workloads: [rank1_100]
search: {strategy: random, samples: 40}
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """By table of renderers: results that have everything, and results that lack it."""
    path = tmp_path_factory.mktemp("renderers") / "sweep.yaml"
    path.write_text(SWEEP)
    layer = explore(
        "eyeriss_like", "alexnet/conv2", "ruby-s", SearchOptions(strategy="random", samples=500, front="energy,delay")
    )
    arch = load_arch("eyeriss_like")
    levels = tuple(replace(level, capacity_bits=1) if level.name == "psum_spad" else level for level in arch.levels)
    nothing = explore(
        replace(arch, levels=levels), "alexnet/conv2", "ruby-s", SearchOptions(strategy="random", samples=100)
    )
    swept = sweep(path)
    return {
        "layer": (layer, nothing),
        "network": (NetworkResult("net", ((layer, 2),)), NetworkResult("net", ((layer, 2), (nothing, 1)))),
        "sweep": (swept, replace(swept, outcomes={})),
    }


TABLES = {"layer": OF_LAYER, "network": OF_NETWORK, "sweep": OF_SWEEP}
each_renderer = pytest.mark.parametrize(
    ("kind", "renderer"),
    [(kind, renderer) for kind, table in TABLES.items() for renderer in table],
    ids=lambda value: getattr(value, "name", value),
)


@each_renderer
def test_a_renderer_draws_the_result_or_says_why_not(kind, renderer, results):
    """On a figure of its own and on given axes; a reason is what `plot` reports, and nothing is drawn then."""
    result, _ = results[kind]
    if why := renderer.why_not(result):
        with pytest.raises(InputError, match="cannot be drawn") as refused:
            result.plot(renderer.name)
        assert why in str(refused.value)
        return
    picture = renderer(result)
    assert isinstance(picture, Figure)
    assert isinstance(result.plot(renderer.name), Figure)
    assert any(axes.has_data() or axes.patches or axes.images for axes in picture.axes)
    ours = Figure()
    assert renderer(result, ours.add_subplot()) is ours
    picture.draw_without_rendering()


@each_renderer
def test_a_renderer_refuses_a_result_without_a_mapping(kind, renderer, results):
    """Whatever a picture needs, a result without a mapping does not have it."""
    _, nothing = results[kind]
    assert renderer.why_not(nothing)
    with pytest.raises(InputError, match="cannot be drawn"):
        nothing.plot(renderer.name)


@pytest.mark.parametrize("kind", TABLES)
def test_names_are_the_choices_of_plot(kind, results):
    """Each name once, in the order in which an unknown name is answered."""
    names = [renderer.name for renderer in TABLES[kind]]
    assert len(set(names)) == len(names)
    with pytest.raises(InputError, match=", ".join(names) if len(names) > 1 else names[0]):
        results[kind][0].plot("no such picture")


@pytest.mark.parametrize("kind", TABLES)
def test_what_else_a_result_can_do(kind, results):
    """It prints itself as text and as HTML, with a mapping or without."""
    for result in results[kind]:
        assert str(result).strip()
        assert result._repr_html_().startswith("<")
