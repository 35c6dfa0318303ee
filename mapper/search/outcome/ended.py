"""The reasons why a search ends."""

from enum import StrEnum

MOST_CHAINS = 300_000  # chain combinations of one group of dims that a proof divides
MOST_COARSE = 50_000_000  # the same that a coarse bound weighs; with more, only the ideal bounds are known
STEPS_A_ROW = 5  # of chains, for a bound of each choice: where the steps are too few for it no proof begins
MOST_NAMED = 2_000_000  # the same that a certificate has numbers of
MOST_KEPT = 2**14  # choices of kept tensors that are listed; to bound one takes some hundredths of a second


class Ended(StrEnum):
    """A reason why a search ends; its value is the text for users."""

    VICTORY = "victory"
    PATIENCE = "patience"
    TARGET = "target"
    SAMPLES = "samples"
    VALID = "valid"
    TIME_LIMIT = "time limit"  # the answer may depend on the machine
    EFFORT = "effort"
    BUDGET = "budget"  # of all layers together: for the layer SAMPLES or TIME_LIMIT
    NO_TIME = "no time within the budget"  # before the layer was searched
    NOTHING_VALID = "nothing valid in a row"
    NOTHING_PROPOSED = "of many drawn mappings none was left to propose"
    SETTLED = "new populations brought nothing"
    SOLVED = "all programmes solved"
    CUT_OFF = "all programmes looked at, but some cut off by their seconds"
    ALL_VISITED = "every mapping visited"
    EMPTY = "no mapping meets the constraints"  # before the layer was searched
    INTERRUPTED = "interrupted"
    GIVEN = "given mappings alone"
    # where a cost model is asked
    MODEL_FAILED = "the cost model failed"
    NOTHING_NEW = "nothing new to ask about"
    # for proofs
    CLOSE = "best and bound close enough"  # as asked; of sums of parts, at each slope
    SUMS = "sums of energy and cycles tell no more"  # of a product, within limits, or of the slowest stage
    SEEN_ALL = "every mapping ruled out or seen"
    LEFT_OPEN = f"{SEEN_ALL} but some with too many loop orders"
    ROOT_ONLY = "the mapspace bounded as a whole"
    INEXACT = "no proof: figures of this layer may pass 2^53, where they are rounded"
    SYSTOLIC = "no proof: the cycles of a systolic array depend on loop orders, which proofs do not compare by cycles"
    TOO_MANY_CHAINS = f"no proof: more than {MOST_CHAINS:,} chains of one dim or window"
    TOO_MANY_COARSE = f"no proof: more than {MOST_COARSE:,} chains of one dim or window"
    TOO_SHORT = "no proof: too little effort or time for so many chains and choices of what is kept"
    TOO_MANY_NAMED = f"no proof with a certificate: more than {MOST_NAMED:,} chains of one dim or window"
    TOO_MANY_CHOICES = f"no proof: more than {MOST_KEPT:,} choices of the levels that keep a tensor"
    TOO_MANY_CHOICES_LISTED = f"no proof with a front or certificate: more than {MOST_KEPT:,} choices of what is kept"
    UNCOUNTED = "no proof: not every combination of chains is accounted for, an internal error; please report it"
