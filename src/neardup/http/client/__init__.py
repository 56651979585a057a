"""A client of the service: `Client` and `AsyncClient`, with retries, a circuit breaker and batches."""

from neardup.http.client.breaker import Breaker
from neardup.http.client.client import AsyncClient, Client
from neardup.http.client.retry import Retry, ServiceError

__all__ = ["AsyncClient", "Breaker", "Client", "Retry", "ServiceError"]
