"""Lists of parameters that say where a visitor came from or who they are, and never change the page.

A name ending in `*` matches all names with that beginning. Case is ignored. Names that are often part of the address
(ref, source, campaign_id) are left out on purpose: add them for the sites where they do not matter.
"""

from __future__ import annotations

__all__ = ["INDEX_PAGES", "SESSION", "SESSION_IF_RANDOM", "SESSION_IN_PATH", "TRACKING"]


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ANALYTICS = _names("""
    utm_* mtm_* matomo_* piwik_* pk_campaign pk_cid pk_content pk_keyword pk_kwd pk_medium pk_source
    hsa_* itm_* stm_* ga_* _ga _gac _gl _openstat at_custom* ef_id s_cid s_kwcid sc_cid
    wmf_* wt.mc_id wt_mc wt_zmc xtor
""")
ADVERTISEMENTS = _names("""
    gclid gclsrc gbraid wbraid gad_source gad_campaignid dclid fbclid msclkid yclid ysclid ymclid twclid ttclid
    li_fat_id epik rdt_cid scclid srsltid irclickid irgwc awc cjevent cjdata zanpid ranmid raneaid ransiteid
    vmcid obclid outbrainclickid tblci taboola_* admitad_uid adjust_* af_* adgroupid adposition campaignid
    wickedid wickedsource rb_clickid
""")
MAILINGS = _names("""
    mc_cid mc_eid _hsenc _hsmi __hssc __hstc __hsfp hsctatracking mkt_tok mkwid ml_subscriber ml_subscriber_hash
    vero_conv vero_id oly_anon_id oly_enc_id dm_i dm_t bsft_* sfmc_* trk_contact trk_msg trk_module trk_sid
    ck_subscriber_id _kx _ke _bta_tid _bta_c elqtrack elqtrackid elqcampaignid elqaid elqat cmpid
""")
SHARES = _names("""
    igshid igsh fb_action_ids fb_action_types fb_ref fb_source fb_comment_id action_object_map action_type_map
    action_ref_map share_token wprov guccounter guce_referrer guce_referrer_sig spm scm ncid cvid smid algo_pvid
""")
TRACKING = (*ANALYTICS, *ADVERTISEMENTS, *MAILINGS, *SHARES)

SESSION = _names("""
    jsessionid phpsessid php_session_id sessid sess_id sessionid session_id session-id session_key sessionkey
    aspsessionid* asp.net_sessionid cfid cftoken cfsessionid zenid oscsid oscadminid xtcsid usersession visitorid
    wicket:interface
""")

# Parameters with these names are dropped only if the value looks random: `sid=3f9a…` is, `sid=42` may be a story.
SESSION_IF_RANDOM = _names("sid session sess ssid osid bsid")

# Session ids in the path after a semicolon: /page;jsessionid=0AB1
SESSION_IN_PATH = _names("jsessionid phpsessid sessionid session_id sessid sid cfid cftoken")

# The files that a server shows for a folder.
INDEX_PAGES = frozenset(
    _names("""
    index.html index.htm index.shtml index.xhtml index.php index.php3 index.php4 index.php5 index.phtml
    index.asp index.aspx index.jsp index.jspx index.cgi index.pl index.cfm index.mvc index.wml
    default.html default.htm default.asp default.aspx default.jsp default.php iisstart.htm
""")
)
