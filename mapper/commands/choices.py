"""The names that `--help` and shell completion show, here again so that neither has to import what the names stand for.

The tests compare them with the tables.
"""

PRESETS = ("pfm", "ruby", "ruby-s", "ruby-t", "auto")
SEARCHES = (
    *("auto", "random", "exhaustive", "anneal", "genetic", "sketch", "pruned", "gbt", "surrogate", "bayes"),
    *("evolve", "milp", "optimal"),
)
FUSE = ("auto", "resident", "none")
ENGINES = ("numpy", "jax")
OBJECTIVES = ("edp", "energy", "delay")
EFFORTS = ("quick", "normal", "thorough")
CLUSTERS = "dask://HOST:PORT, or ray (for the Ray cluster that this machine belongs to)"
ESTIMATES = ("default", "accelergy", "hwcomponents")
BACKENDS = ("c", "exo", "tvm")
DATA_TYPES = ("float32", "float64", "int8", "int32")
ACTIONS = ("list", "best", "export", "import", "prune")
SCHEMAS = (
    *("architecture", "workload", "sweep", "mapping", "transforms", "plan"),
    *("network-plan", "result", "group", "pipeline", "graph", "size", "library"),
    *("group-model", "plan-model", "model", "fit", "difference", "energy", "check"),
    *("sweep-summary", "pareto", "sweep-results", "store", "program", "rewrite", "comparison"),
    *("certificate", "store-line"),
)
REPORT_FORMATS = ("csv", "md", "tex", "png", "svg", "pdf")
FORMATS = ("timeloop", "timeloop-0.4", "zigzag")
