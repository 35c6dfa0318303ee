"""Shell completion: names of the library, files in YAML, the values of options."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

SUFFIXES = (".yaml", ".yml")


def one_of(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Make the completion of an option that takes one of `names`."""
    known = list(names)

    def complete(incomplete: str) -> list[str]:
        return [name for name in known if name.startswith(incomplete)]

    return complete


def machines(incomplete: str) -> list[str]:
    """The architectures of the library and the files that begin so."""
    from ...arch import library_archs  # not before it is needed

    return [*one_of(library_archs())(incomplete), *_files(incomplete)]


def layers(incomplete: str) -> list[str]:
    """The layers and networks of the library that begin so, the layers of a network after its `/`, and files."""
    from ...workloads import library_workloads  # not before it is needed

    names = library_workloads()
    network, slash, _ = incomplete.partition("/")
    inside = [f"{network}/{layer}" for layer in names.get(network, ())] if slash else list(names)
    return [*one_of(inside)(incomplete), *_files(incomplete)]


def _files(incomplete: str) -> Iterator[str]:
    """The folders and the files in YAML that begin so, as they are written."""
    folder, slash, start = incomplete.rpartition("/")
    try:
        found = sorted(Path(folder + slash).expanduser().iterdir())
    except OSError:
        return
    for path in found:
        if path.name.startswith(start) and (start or not path.name.startswith(".")):
            if path.is_dir():
                yield f"{folder}{slash}{path.name}/"
            elif path.suffix in SUFFIXES:
                yield f"{folder}{slash}{path.name}"
