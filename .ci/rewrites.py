"""Writes the shipped substitutions: make rewrites. About five minutes on one core."""

import sys
import time

from ruby_map.mapper.rewrites.production import produced
from ruby_map.mapper.rewrites.shipped import FILE, written
from ruby_map.workloads import write_whole

began = time.monotonic()


def tell(text: str) -> None:
    sys.stderr.write(f"{time.monotonic() - began:6.0f} s  {text}\n")


made = produced(tell=tell)
write_whole(FILE, written(made))
tell(f"{FILE.name}: {made.counts}")
