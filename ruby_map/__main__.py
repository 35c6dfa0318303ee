"""`python -m ruby_map ARCH WORKLOAD` is `ruby-map ARCH WORKLOAD`."""

from .mapper.commands.entry import ruby_map

if __name__ == "__main__":
    ruby_map()
