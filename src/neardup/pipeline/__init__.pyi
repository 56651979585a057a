# Listed once: `__init__.py` reads the names from here, and so do type checkers.
# ruff: isort: skip_file

# Names:
from neardup.pipeline.templates import LearntTemplates as LearntTemplates
from neardup.pipeline.templates import SourceTemplate as SourceTemplate
from neardup.pipeline.templates import learn_templates as learn_templates
