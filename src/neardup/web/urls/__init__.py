"""URLs: their canonical form, rule by rule, with rules for single sites learnt from data."""

from neardup.web.urls.canonical import (
    CanonicalUrls,
    UrlExplanation,
    UrlStep,
    canonical_url,
    canonical_urls,
    explain_url,
)
from neardup.web.urls.learning import Learnt, Proposal, learn_url_rules
from neardup.web.urls.redirects import Redirects
from neardup.web.urls.rules import STANDARD, UrlRules
from neardup.web.urls.sites import SiteRule

__all__ = [
    "STANDARD",
    "CanonicalUrls",
    "Learnt",
    "Proposal",
    "Redirects",
    "SiteRule",
    "UrlExplanation",
    "UrlRules",
    "UrlStep",
    "canonical_url",
    "canonical_urls",
    "explain_url",
    "learn_url_rules",
]
