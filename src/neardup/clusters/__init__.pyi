# Listed once: `__init__.py` reads the names from here, and so do type checkers.
# ruff: isort: skip_file

# Names:
from neardup.clusters.clusters import Clusters as Clusters
from neardup.clusters.clusters import cluster as cluster
from neardup.clusters.collapsed import Collapsed as Collapsed
from neardup.clusters.collapsed import Fold as Fold
from neardup.clusters.collapsed import collapse as collapse
from neardup.clusters.keepers import Keep as Keep
