"""From documents to verified pairs: read, fit, fingerprint, find."""

from neardup.pipeline.templates import LearntTemplates, SourceTemplate, learn_templates

__all__ = [
    "LearntTemplates",
    "SourceTemplate",
    "learn_templates",
]
