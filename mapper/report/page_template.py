"""Pages of results from templates: page_head.html is the head of them all."""

from importlib.resources import files


def filled_page(package: str, name: str, **values: object) -> str:
    """Fill the template `name` of a package, whose texts are escaped; it may include page_head.html."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # not before it is needed

    def source(wanted: str) -> str:
        return (files(package if wanted == name else __package__) / wanted).read_text(encoding="utf-8")

    loader = FunctionLoader(source)
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=loader
    )
    return environment.get_template(name).render(**values) + "\n"
