"""Explores pipelines: a chain of layers on parts of the cores of a machine."""

from .explore import PipelineRequest, explore_pipeline, pipeline_faults

__all__ = ["PipelineRequest", "explore_pipeline", "pipeline_faults"]
