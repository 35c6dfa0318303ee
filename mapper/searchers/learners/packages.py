"""The optional packages of searches that learn: whether they are installed."""

from importlib.util import find_spec


def missing_package(package: str, name: str = "", extra: str = "") -> list[str]:
    """Say how to install `package`, imported as `name`, of an extra; nothing where it is installed.

    Without these both have its own name.
    """
    if find_spec(name or package) is None:
        return [f"needs {package}, which is not installed: pip install 'ruby-map[{extra or package}]' brings it"]
    return []
