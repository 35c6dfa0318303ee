"""Which mappings there are: counted, numbered, sampled."""
