# Listed once: `__init__.py` reads the names from here, and so do type checkers.
# ruff: isort: skip_file

# Names:
from neardup.web.urls.canonical import CanonicalUrls as CanonicalUrls
from neardup.web.urls.canonical import UrlExplanation as UrlExplanation
from neardup.web.urls.canonical import UrlStep as UrlStep
from neardup.web.urls.canonical import canonical_url as canonical_url
from neardup.web.urls.canonical import canonical_urls as canonical_urls
from neardup.web.urls.canonical import explain_url as explain_url
from neardup.web.urls.proposals import Learnt as Learnt
from neardup.web.urls.proposals import Proposal as Proposal
from neardup.web.urls.proposals import learn_url_rules as learn_url_rules
from neardup.web.urls.redirects import Redirects as Redirects
from neardup.web.urls.rules import STANDARD as STANDARD
from neardup.web.urls.rules import UrlRules as UrlRules
from neardup.web.urls.sites import SiteRule as SiteRule
