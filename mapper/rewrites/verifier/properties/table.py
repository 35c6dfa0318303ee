"""The table of properties."""

from .arranged import ARRANGED
from .products import PRODUCTS
from .property import Property
from .wordwise import ALONG_AN_AXIS, ELEMENTWISE

PROPERTIES: tuple[Property, ...] = (*ELEMENTWISE, *ALONG_AN_AXIS, *ARRANGED, *PRODUCTS)
