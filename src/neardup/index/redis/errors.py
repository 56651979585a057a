"""Translates errors of the server and of redis-py: what happened, and what to do next."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

from neardup.errors import FormatError, SharedIndexError
from neardup.index.redis.address import Address

__all__ = ["refused", "temporary_errors", "translated_errors"]


def temporary_errors(errors: Any) -> tuple[type[Exception], ...]:
    """Temporary errors: the command may succeed when it is sent again."""
    return (
        errors.ConnectionError,
        errors.TimeoutError,
        errors.BusyLoadingError,
        errors.MovedError,
        errors.TryAgainError,
        errors.ClusterDownError,
        errors.MasterDownError,
        errors.ReadOnlyError,
        errors.SlotNotCoveredError,
        OSError,
    )


@contextlib.contextmanager
def translated_errors(errors: Any, address: Address) -> Iterator[None]:
    """Translate what redis-py raises into our errors."""
    where = address.shown
    try:
        yield
    except (errors.AuthenticationError, errors.NoPermissionError) as error:
        raise SharedIndexError(
            f"{where}: {str(error).rstrip('.')}; put the user and password in the address, "
            "redis://user:password@host"
        ) from None
    except (errors.ConnectionError, errors.TimeoutError, OSError) as error:
        if why := refused(error):
            raise SharedIndexError(f"{where}: {why} ({error})") from None
        tls = " and does it speak TLS" if address.url.startswith("rediss:") else ""
        raise SharedIndexError(
            f"{where}: no answer ({error}); is the server there{tls}? What was not acknowledged may be sent again"
        ) from None
    except (*temporary_errors(errors), errors.AskError, errors.RedisClusterException) as error:
        if isinstance(error, errors.AskError) and not address.cluster:  # MovedError is a subclass
            raise SharedIndexError(f"{where}: this is a node of a cluster; use redis+cluster://") from None
        if isinstance(error, errors.ReadOnlyError) and not address.cluster:
            raise SharedIndexError(
                f"{where}: this server is a replica, which takes no writes; name its master, or open the index for "
                'reading (mode="read")'
            ) from None
        if why := refused(error):
            raise SharedIndexError(f"{where}: {why}") from None
        raise SharedIndexError(
            f"{where}: the cluster cannot serve all keys ({error}); try again when "
            "`redis-cli --cluster check` reports no errors"
        ) from None
    except errors.OutOfMemoryError as error:
        raise SharedIndexError(
            f"{where}: {error}; raise maxmemory, or delete documents (ttl, `neardup index forget`)"
        ) from None
    except errors.ResponseError as error:
        if "hash to the same slot" in str(error) and not address.cluster:
            raise SharedIndexError(f"{where}: this is a node of a cluster; use redis+cluster://") from None
        if "WRONGTYPE" in str(error):
            raise FormatError(where, "keys of this index", f"a key of another kind ({error})") from None
        raise SharedIndexError(f"{where}: the server refused a command: {error}") from None
    except errors.RedisError as error:
        raise SharedIndexError(f"{where}: {error}") from None


def refused(error: Exception) -> str | None:
    """The reason, if the certificates or the type of server are wrong: then a retry does not help."""
    said = str(error)
    if "Cluster mode is not enabled" in said:
        return "this server is not part of a cluster; redis:// is for one server"
    if "CERTIFICATE_VERIFY_FAILED" in said:
        why = re.search(r"verify failed: (.+?)\.? \(_ssl", said)
        trust = "the server's certificate is not trusted" + (f" ({why[1]})" if why else "")
        return f"{trust}; name the file of its authority in the address, ca=FILE"
    if "certificate required" in said.lower() or "CERTIFICATE_REQUIRED" in said:
        return "the server wants a certificate of yours; name its files in the address, cert=FILE&key=FILE"
    if "WRONG_VERSION_NUMBER" in said or "RECORD_LAYER_FAILURE" in said:
        return "the server does not speak TLS here; redis:// is without"
    return None
