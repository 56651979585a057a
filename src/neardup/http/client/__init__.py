"""A client of the service: `Client` and `AsyncClient`, with retries and batches."""

from neardup.http.client.client import AsyncClient, Client
from neardup.http.client.retry import Retry, ServiceError

__all__ = ["AsyncClient", "Client", "Retry", "ServiceError"]
