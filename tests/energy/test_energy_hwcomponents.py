"""The engine `hwcomponents`, against a stand-in for the package hwcomponents-cacti."""

import sys
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace

import pytest
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table, hwcomponents
from ruby_map.workloads import InputError


@pytest.fixture
def install(monkeypatch, tmp_path):
    """Puts a package in place whose memories are `memory(**sizes)`; what is kept, in a folder of the test's own."""
    monkeypatch.setenv("RUBY_MAP_CACHE", str(tmp_path / "cache"))

    def put(memory, version="9.9"):
        package = ModuleType("hwcomponents_cacti")
        package.SRAM = memory
        monkeypatch.setitem(sys.modules, "hwcomponents_cacti", package)
        monkeypatch.setattr("importlib.metadata.version", lambda name: version)

    hwcomponents._figures.cache_clear()
    yield put
    hwcomponents._figures.cache_clear()


def memory_of(**sizes):
    """74 pJ, 75 pJ, 2 uW, 1000 um2, in J, W, m2; as chatty as a package may be."""
    print("running CACTI")  # noqa: T201
    assert sizes["size"] % sizes["width"] == 0
    return SimpleNamespace(
        read=lambda: SimpleNamespace(energy=74e-12),
        write=lambda: SimpleNamespace(energy=75e-12),
        leak_power=2e-6,
        area=1000e-12,
    )


def test_sram_comes_from_cacti(install, capsys):
    """SRAM has CACTI's figures and the address generators; all else the closed forms."""
    asked = []

    def memory(**sizes):
        asked.append(sizes)
        return memory_of(**sizes)

    install(memory)
    arch = load_arch("eyeriss_like")
    table, default = energy_table(arch, engine="hwcomponents"), energy_table(arch)
    told = table.levels[1]
    assert (told.read_pj, told.write_pj) == (pytest.approx(74.0488), pytest.approx(75.0488))
    assert told.area_um2 == pytest.approx(1179)
    assert told.leak_pj_per_cycle == pytest.approx(0.01)
    assert told.source == "CACTI by hwcomponents-cacti, plus address generators"
    assert table.levels[2:] == default.levels[2:]
    assert table.compute == default.compute
    sizes = asked[-1]
    assert sizes.pop("tech_node") == pytest.approx(45e-9)
    assert sizes == {"width": 64, "size": 64 * 16384, "n_rw_ports": 2, "n_banks": 32}
    assert capsys.readouterr().out == ""


def test_the_package_is_not_there(install, monkeypatch):
    """Without the package the message says what to install."""
    monkeypatch.setitem(sys.modules, "hwcomponents_cacti", None)
    with pytest.raises(InputError, match="install hwcomponents-cacti, or use the engine default"):
        energy_table(load_arch("eyeriss_like"), engine="hwcomponents")


def test_its_program_does_not_run(install):
    """A CACTI that cannot be started is told by the probe, with the reason."""

    def broken(**_sizes):
        raise RuntimeError("version `GLIBC_2.38' not found")

    install(broken)
    with pytest.raises(InputError, match=r"even a simple memory; build it from source .*GLIBC_2.38"):
        energy_table(load_arch("eyeriss_like"), engine="hwcomponents")


def test_a_memory_that_cacti_refuses(install):
    """One memory that CACTI cannot make is told with its sizes."""

    def only_small(**sizes):
        if sizes["size"] > 100_000:
            raise ValueError("no organisation found")
        return memory_of(**sizes)

    install(only_small)
    with pytest.raises(InputError, match="an SRAM of 131072 B x 64 b, .*no organisation found"):
        energy_table(load_arch("eyeriss_like"), engine="hwcomponents")


def test_figures_are_kept(install):
    """What CACTI told once is not asked again, by another process neither; a new version of the package is."""
    asked = []

    def memory(**sizes):
        asked.append(sizes)
        return memory_of(**sizes)

    install(memory)
    arch = load_arch("eyeriss_like")
    first = energy_table(arch, engine="hwcomponents")
    hwcomponents._figures.cache_clear()  # as in a new process
    number = len(asked)
    assert energy_table(arch, engine="hwcomponents") == first
    assert len(asked) == number
    install(memory, version="10.0")
    energy_table(arch, engine="hwcomponents")
    assert len(asked) > number


@pytest.mark.skipif(find_spec("hwcomponents_cacti") is None, reason="needs hwcomponents-cacti, built from source")
def test_the_real_package_tells_the_grid(monkeypatch):
    """CACTI itself gives the Eyeriss-like machine the shipped figures, to the digits that the grid keeps."""
    monkeypatch.setenv("RUBY_MAP_CACHE", "")
    hwcomponents._figures.cache_clear()
    arch = load_arch("eyeriss_like")
    told, default = energy_table(arch, engine="hwcomponents").levels[1], energy_table(arch).levels[1]
    for name in ("read_pj", "write_pj", "leak_pj_per_cycle", "area_um2"):
        assert getattr(told, name) == pytest.approx(getattr(default, name), rel=1e-5)
