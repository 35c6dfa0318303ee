"""Work on several processes, deadlines, state on disk, standard streams: nothing here knows what a mapping is."""

from .checkpoint import NAME, Checkpoint, Part, State, identity
from .cluster import KINDS, check_cluster, cluster_faults
from .deadline import Deadline, TimeUp, no_deadline
from .parallel import Workers, in_order
from .state_file import StateFile, folder_faults
from .streams import refused, say, tell

__all__ = [
    "Deadline",
    "Checkpoint",
    "KINDS",
    "NAME",
    "Part",
    "State",
    "StateFile",
    "TimeUp",
    "Workers",
    "cluster_faults",
    "folder_faults",
    "identity",
    "in_order",
    "no_deadline",
    "check_cluster",
    "refused",
    "say",
    "tell",
]
