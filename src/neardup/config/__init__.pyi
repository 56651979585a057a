# Listed once: `__init__.py` reads the names from here, and so do type checkers.
# ruff: isort: skip_file

# Names:
from neardup.config.config import Config as Config
from neardup.config.config import Templates as Templates
from neardup.config.filters import Filters as Filters
from neardup.config.kinds import register as register
from neardup.config.presets import PRESETS as PRESETS
from neardup.config.presets import Preset as Preset
from neardup.config.presets import preset as preset
