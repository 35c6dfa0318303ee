"""What an architecture says of tensors and dims, where layers hold tensors in block-scaled formats."""

from .constraints import with_scales

__all__ = ["with_scales"]
