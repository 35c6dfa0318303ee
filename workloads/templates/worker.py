"""Renders one template in a process of its own, which the limits of `templates.rendered` hold in time and memory.

Run as a program: a request in JSON comes on standard input, an answer in JSON goes to standard output. It imports
nothing of this project, so that it starts quickly.
"""

import json
import re
import resource
import sys
import traceback
from collections.abc import Iterator
from glob import iglob
from pathlib import Path
from typing import Any

from jinja2 import FunctionLoader, StrictUndefined, TemplateError, TemplateNotFound, UndefinedError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

CPU_SECONDS = 3
BYTES = 1 << 29  # of memory
FILE_BYTES = 1 << 20  # of a template
FILES = 1000  # that one name may match


class RefusedError(Exception):
    """A template asks for what it may not have; `file` and `line` say where."""

    def __init__(self, message: str, file: str = "", line: int | None = None) -> None:
        super().__init__(message)
        self.file, self.line = file, line


class Rendering:
    """The functions that templates call, while one file is rendered."""

    def __init__(self, folders: list[str], search: list[str], values: dict[str, Any]) -> None:
        self.folders, self.search = [Path(folder) for folder in folders], [Path(folder) for folder in search]
        self.values = values
        self.included: list[tuple[list[str], str, bool]] = []  # files, keys, whether there may be several
        self.names = set[str]()  # that templates use and do not set themselves

    def text(self, path: Path, around: tuple[Path, ...] = ()) -> str:
        """The text of a file, rendered; `around`: the files that include it."""
        if path in around:
            names = " -> ".join(map(str, (*around[around.index(path) :], path)))
            raise RefusedError(f"a template includes itself: {names}")
        source = self.read(path)
        environment = ImmutableSandboxedEnvironment(
            undefined=StrictUndefined,
            loader=FunctionLoader(lambda name: self.noted(environment, self.read(self.one(name, path)))),
        )
        environment.globals = {
            "range": environment.globals["range"],
            "cwd": lambda: str(path.parent),
            "add_to_path": lambda name: self.add(name, path),
            "find_path": lambda name: str(self.one(name, path)),
            "find_paths": lambda name: [str(file) for file in self.matching_files(name, path)],
            "path_exists": lambda name: any(self.matches(name, path)),
            "include": lambda name, keys="": self.include([self.one(name, path)], keys, several=False),
            "include_all": lambda name, keys="": self.include(self.matching_files(name, path), keys, several=True),
            "include_text": lambda name: "\n".join(
                self.text(one, (*around, path)) for one in self.matching_files(name, path)
            ),
        }
        try:
            return environment.from_string(self.noted(environment, source)).render(self.values)
        except RefusedError as error:
            raise RefusedError(str(error), error.file or str(path), error.line or _line(error)) from None
        except TemplateNotFound as error:
            raise RefusedError(f"no template {error}", str(path), _line(error)) from None
        except UndefinedError as error:
            rule = "give it a value with --template NAME=VALUE"
            raise RefusedError(f"{error.message}: {rule}", str(path), _line(error)) from None
        except TemplateError as error:
            raise RefusedError(f"not a template: {error}", str(path), getattr(error, "lineno", _line(error))) from None
        except (ArithmeticError, TypeError, ValueError, LookupError, AttributeError) as error:
            raise RefusedError(f"the template fails: {error}", str(path), _line(error)) from None

    def noted(self, environment: ImmutableSandboxedEnvironment, source: str) -> str:
        """The text of a template, whose names are noted."""
        self.names |= meta.find_undeclared_variables(environment.parse(source))
        return source

    def read(self, path: Path) -> str:
        """The text of a file of a template's size."""
        if not path.is_file():
            raise RefusedError(f"{path}: a file is expected")
        if path.stat().st_size > FILE_BYTES:
            raise RefusedError(f"{path}: a template of at most {FILE_BYTES} bytes is expected")
        try:
            return path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise RefusedError(f"{path}: not UTF-8 text") from None

    def matches(self, name: object, path: Path) -> Iterator[Path]:
        """The files of a name or pattern, beside `path` or in the folders added; none is outside the folders given."""
        for folder in (path.parent, *self.search):
            for number, match in enumerate(iglob(str(folder / str(name)))):
                if number >= FILES:
                    raise RefusedError(f"{name!r} matches more than {FILES} files")
                whole = Path(match).resolve()
                if not any(whole.is_relative_to(allowed) for allowed in self.folders):
                    places = ", ".join(map(str, self.folders))
                    raise RefusedError(f"{name!r} is outside the folders that a template may read: {places}")
                yield whole

    def matching_files(self, name: object, path: Path) -> list[Path]:
        """The same, each once, at least one; a list of names stands for all of them."""
        names = name if isinstance(name, list | tuple) else [name]
        every = [[*dict.fromkeys(self.matches(one, path))] for one in names]
        for one, files in zip(names, every, strict=True):
            if not files:
                looked = ", ".join(map(str, (path.parent, *self.search)))
                raise RefusedError(f"no such file: {one!r}, in {looked}")
        return [*dict.fromkeys(file for files in every for file in files)]

    def one(self, name: object, path: Path) -> Path:
        """The first file of a name."""
        return self.matching_files(name, path)[0]

    def add(self, name: object, path: Path) -> str:
        """Look for files in a further folder, too."""
        self.search += [folder for folder in self.matching_files(name, path) if folder not in self.search]
        return ""

    def include(self, files: list[Path], keys: object, *, several: bool) -> str:
        """A mark in place of what other files hold, which are read as they are: YAML, or templates themselves."""
        self.included.append(([*map(str, files)], str(keys).lstrip("."), several))
        return f"!included {len(self.included) - 1}"


def _line(error: BaseException) -> int | None:
    """The line of a template that an error comes from."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<template>"]
    return frames[-1].lineno if frames else None


def main() -> None:
    """Answer a request: the text, or what is wrong and where."""
    request = json.loads(sys.stdin.read())
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    rendering = Rendering(request["folders"], request["search"], request["values"])
    answer: dict[str, Any]
    try:
        text = rendering.text(Path(request["path"]))
        names = sorted(rendering.names)
        answer = {"text": text, "included": rendering.included, "search": [*map(str, rendering.search)], "names": names}
    except RefusedError as error:
        answer = {"fault": str(error), "file": error.file, "line": error.line}
    except (MemoryError, RecursionError, OverflowError) as error:
        what = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(error).__name__).lower()
        answer = {"fault": f"the template is too large: {what}", "file": request["path"], "line": None}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
