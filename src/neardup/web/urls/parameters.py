"""The maintained lists: parameters that say where a visitor came from or who they are, never what the page shows.

A name ending in `*` stands for all names that begin so. Names are compared without regard to case. Names that are as
often part of the address (ref, source, id, page) are left out on purpose: add them for the sites where they are noise.
"""

from __future__ import annotations

__all__ = ["INDEX_PAGES", "SESSION", "SESSION_IF_RANDOM", "SESSION_IN_PATH", "TRACKING"]

# Campaigns, clicks and mailings, grouped by whose they are.
TRACKING = (
    # analytics
    *(
        "utm_*",
        "mtm_*",
        "matomo_*",
        "piwik_*",
        "pk_*",
        "hsa_*",
        "itm_*",
        "stm_*",
        "ga_*",
        "at_custom*",
        "xtor",
    ),
    *(
        "_ga",
        "_gl",
        "_gac",
        "_openstat",
        "s_cid",
        "s_kwcid",
        "sc_cid",
        "ef_id",
        "wt_mc",
        "wt.mc_id",
        "wt_zmc",
    ),
    # clicks on advertisements
    *("gclid", "gclsrc", "gbraid", "wbraid", "gad_source", "gad_campaignid", "dclid", "fbclid", "msclkid"),
    *("yclid", "ysclid", "ymclid", "twclid", "ttclid", "li_fat_id", "epik", "rdt_cid", "scclid", "srsltid"),
    *("irclickid", "irgwc", "awc", "cjevent", "cjdata", "zanpid", "ranmid", "raneaid", "ransiteid", "vmcid"),
    *("obclid", "outbrainclickid", "tblci", "taboola_*", "admitad_uid", "adjust_*", "af_*", "campaignid"),
    *(
        "adgroupid",
        "adposition",
        "campaign_id",
        "ad_id",
        "adset_id",
        "wickedid",
        "wickedsource",
        "rb_clickid",
    ),
    # mailings
    *("mc_cid", "mc_eid", "_hsenc", "_hsmi", "__hssc", "__hstc", "__hsfp", "hsctatracking", "mkt_tok"),
    *("mkwid", "ml_subscriber", "ml_subscriber_hash", "vero_conv", "vero_id", "oly_anon_id", "oly_enc_id"),
    *(
        "dm_i",
        "dm_t",
        "bsft_*",
        "sfmc_*",
        "trk_contact",
        "trk_msg",
        "trk_module",
        "trk_sid",
        "ck_subscriber_id",
    ),
    *(
        "_kx",
        "_ke",
        "_bta_tid",
        "_bta_c",
        "elqtrack",
        "elqtrackid",
        "elqcampaignid",
        "elqaid",
        "elqat",
        "cmpid",
    ),
    # shares
    *("igshid", "igsh", "fb_action_ids", "fb_action_types", "fb_ref", "fb_source", "fb_comment_id"),
    *("action_object_map", "action_type_map", "action_ref_map", "share_token", "wprov", "guccounter"),
    *("guce_referrer", "guce_referrer_sig", "spm", "scm", "ncid", "cvid", "smid", "algo_pvid", "pvid"),
)

SESSION = (
    *(
        "jsessionid",
        "phpsessid",
        "sessid",
        "sessionid",
        "session_id",
        "session-id",
        "sess_id",
        "aspsessionid*",
    ),
    *(
        "asp.net_sessionid",
        "cfid",
        "cftoken",
        "cfsessionid",
        "zenid",
        "oscsid",
        "oscadminid",
        "xtcsid",
        "sessionkey",
    ),
    *("session_key", "usersession", "php_session_id", "visitorid", "wicket:interface"),
)

# Of these names only values that look drawn at random go: `sid=3f9a…` does, `sid=42` may be a story.
SESSION_IF_RANDOM = (
    "sid",
    "s",
    "session",
    "sess",
    "ssid",
    "osid",
    "bsid",
    "visit",
    "sessid2",
    "token",
    "view_id",
)

# Written into the path after a semicolon: /page;jsessionid=0AB1
SESSION_IN_PATH = ("jsessionid", "phpsessid", "sessionid", "session_id", "sessid", "sid", "cfid", "cftoken")

# What a server shows for a folder.
INDEX_PAGES = frozenset(
    [f"index.{end}" for end in ("html", "htm", "shtml", "xhtml", "php", "php3", "php4", "php5", "phtml")]
    + [f"index.{end}" for end in ("asp", "aspx", "jsp", "jspx", "cgi", "pl", "cfm", "mvc")]
    + [f"default.{end}" for end in ("html", "htm", "asp", "aspx", "jsp", "php")]
    + ["iisstart.htm", "index.wml", "home.html", "home.htm"]
)
