"""Shell completion: names of the library, files in YAML, the values of options.

Where nothing of ours begins as a word does, we say nothing and the shell completes the files: it alone knows how to
quote a blank, what `~` and `$HOME` are, and that no blank follows a folder.
"""

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
    from ...arch import library_archs

    return _with_files(one_of(library_archs())(incomplete), incomplete)


def layers(incomplete: str) -> list[str]:
    """The layers and networks of the library that begin so, the layers of a network after its `/`, and files."""
    from ...workloads import library_workloads

    names = library_workloads()
    network, slash, _ = incomplete.partition("/")
    inside = [f"{network}/{layer}" for layer in names.get(network, ())] if slash else list(names)
    return _with_files(one_of(inside)(incomplete), incomplete)


def _with_files(names: list[str], incomplete: str) -> list[str]:
    """Names of ours with the files that begin alike, which the shell leaves out where it is told any name."""
    return [*names, *_files(incomplete)] if names else []


def _files(incomplete: str) -> Iterator[str]:
    """The folders and the files in YAML that begin so, as they are written."""
    folder, slash, start = incomplete.rpartition("/")
    try:
        paths = sorted(Path(folder + slash).iterdir())
    except OSError:
        return
    for path in paths:
        if path.name.startswith(start) and (start or not path.name.startswith(".")):
            if path.is_dir():
                yield f"{folder}{slash}{path.name}/"
            elif path.suffix in SUFFIXES:
                yield f"{folder}{slash}{path.name}"
