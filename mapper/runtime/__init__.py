"""Work on several processes, deadlines, state on disk, standard streams: nothing here knows what a mapping is."""

from .checkpoint import NAME, Checkpoint, Part, State
from .cluster import KINDS, check_cluster, cluster_faults
from .crash import report_crash
from .deadline import Deadline, TimeUp, no_deadline
from .durations import seconds_in
from .internal import InternalError
from .line_processes import LineProcesses, Reply
from .parallel import Workers, in_order
from .sqlite_errors import SqliteFault, StoreWarning, check_schema, foreign_beside, sqlite_fault
from .state_file import StateFile, folder_faults
from .streams import UnreadError, csv_cell, print_message, print_result, refused
from .threads import one_thread

__all__ = [
    "Deadline",
    "Checkpoint",
    "InternalError",
    "KINDS",
    "LineProcesses",
    "NAME",
    "Part",
    "SqliteFault",
    "Reply",
    "State",
    "StateFile",
    "StoreWarning",
    "TimeUp",
    "UnreadError",
    "Workers",
    "cluster_faults",
    "folder_faults",
    "foreign_beside",
    "in_order",
    "no_deadline",
    "one_thread",
    "check_cluster",
    "csv_cell",
    "check_schema",
    "refused",
    "report_crash",
    "print_result",
    "seconds_in",
    "sqlite_fault",
    "print_message",
]
