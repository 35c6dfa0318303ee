"""Searches plans of networks: all partitions, orders and tensors that stay, with what is proven of them."""
