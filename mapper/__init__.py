"""The mapper: mapspace, exact counts, costs, search, report, and the commands."""
