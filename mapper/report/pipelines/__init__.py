"""Results of pipelines."""

from .pipeline_result import PipelineResult

__all__ = ["PipelineResult"]
