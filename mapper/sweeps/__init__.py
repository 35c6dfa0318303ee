"""Architectures x workloads x mapspaces x seeds, searched one by one and compared."""
