"""What Spark refuses before anything is read."""

from __future__ import annotations

from neardup.config.config import Config
from neardup.config.kinds import kind_of
from neardup.errors import ConfigError
from neardup.pipeline.rules import check_prune

__all__ = ["check_config"]


def check_config(config: Config) -> None:
    """ConfigError if the config needs something that only the local pipeline has; it names the local command."""
    config.check_words("Spark")
    if config.templates is not None:
        share = config.templates.share
        raise ConfigError(
            f"only the local pipeline learns templates; on one machine: neardup scan INPUTS --templates {share:g}"
        )
    check_prune(config)
    if (method := config.method) is not None:
        try:
            method.shuffled(method.kept(config.prints.blank))
        except ConfigError as error:
            raise ConfigError(f"{error}; on one machine: {_local_command(config)}") from None


def _local_command(config: Config) -> str:
    """What to type where all documents are on one machine."""
    search, verify = config.search, config.verify
    if search is None:
        return f"neardup scan INPUTS --measure {kind_of(type(verify))} --threshold {verify.threshold:g}"
    if (reach := search.reach(config.prints)) is None:
        return "neardup scan INPUTS --config FILE"
    made, found = kind_of(type(config.prints)), kind_of(type(search))
    return f"neardup scan INPUTS --method {made} --search {found} --radius {reach.radius}"
