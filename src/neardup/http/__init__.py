"""The HTTP service: one live index behind `/v1/...`, for crawlers and search engines in any language."""

__all__: list[str] = []
