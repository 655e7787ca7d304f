r"""What secrets look like, by where they come from.

Each kind has a few letters that are always in it: a text without them is not searched, so that
ordinary lines cost next to nothing however many kinds there are. What begins like a token is one up
to the first character that none has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

_WORD = r"[A-Za-z0-9_-]"
#: Not in the middle of a longer word.
_EDGE = r"(?<![A-Za-z0-9_-])"

#: Letters → pattern: tokens that name whoever made them.
_PREFIXED = (
    ("sk-", rf"sk-{_WORD}{{8,}}"),  # Anthropic, OpenAI and who copies them
    ("gh", r"gh[pousr]_[A-Za-z0-9_]{16,}"),
    ("github_pat_", r"github_pat_[A-Za-z0-9_]{16,}"),
    ("gl", rf"gl(?:pat|rt|dt|ptt|cbt|soat|ft|imt|agent|oas)-{_WORD}{{16,}}"),  # GitLab
    ("ATBB", rf"ATBB{_WORD}{{24,}}"),  # Bitbucket
    ("ATATT3", rf"ATATT3{_WORD}{{20,}}(?:=[0-9A-F]{{8}})?"),  # Atlassian
    ("xox", r"xox[abeoprs]-[A-Za-z0-9-]{8,}"),  # Slack
    ("xapp-", rf"xapp-{_WORD}{{16,}}"),
    ("AIza", rf"AIza{_WORD}{{20,}}"),  # Google
    ("GOCSPX-", rf"GOCSPX-{_WORD}{{16,}}"),
    ("ya29.", r"ya29\.[A-Za-z0-9._-]{16,}"),
    ("1//0", r"1//0[A-Za-z0-9_-]{24,}"),
    ("A", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}"),  # AWS
    ("npm_", r"npm_[A-Za-z0-9]{20,}"),
    ("pypi-", rf"pypi-{_WORD}{{20,}}"),
    ("rubygems_", r"rubygems_[0-9a-f]{20,}"),
    ("cio", rf"{_EDGE}cio[A-Za-z0-9]{{32}}(?![A-Za-z0-9])"),  # crates.io
    ("hf_", r"hf_[A-Za-z0-9]{20,}"),  # Hugging Face
    ("r8_", rf"{_EDGE}r8_[A-Za-z0-9]{{20,}}"),  # Replicate
    ("gsk_", rf"{_EDGE}gsk_[A-Za-z0-9]{{20,}}"),  # Groq
    ("xai-", rf"{_EDGE}xai-{_WORD}{{20,}}"),
    ("pplx-", rf"{_EDGE}pplx-{_WORD}{{20,}}"),  # Perplexity
    ("tvly-", rf"{_EDGE}tvly-{_WORD}{{16,}}"),  # Tavily
    ("lsv2_", r"lsv2_(?:pt|sk)_[A-Za-z0-9_]{20,}"),  # LangSmith
    ("_live_", r"(?:sk|rk|pk)_live_[A-Za-z0-9]{10,}"),  # Stripe
    ("_test_", r"(?:sk|rk|pk)_test_[A-Za-z0-9]{10,}"),
    ("whsec_", r"whsec_[A-Za-z0-9+/=]{16,}"),
    ("SK", rf"{_EDGE}SK[0-9a-f]{{32}}(?![0-9a-f])"),  # Twilio
    ("AC", rf"{_EDGE}AC[0-9a-f]{{32}}(?![0-9a-f])"),
    ("SG.", rf"SG\.{_WORD}{{16,}}\.{_WORD}{{16,}}"),  # SendGrid
    ("key-", rf"{_EDGE}key-[0-9a-f]{{32}}"),  # Mailgun
    ("-us", r"[0-9a-f]{32}-us[0-9]{1,2}"),  # Mailchimp
    ("xkeysib-", r"xkeysib-[0-9a-f]{32,}[A-Za-z0-9-]*"),  # Brevo
    ("_v1_", r"do[opr]_v1_[0-9a-f]{32,}"),  # DigitalOcean
    ("HRKU-", rf"HRKU-{_WORD}{{20,}}"),  # Heroku
    (":AA", rf"{_EDGE}[0-9]{{8,10}}:AA{_WORD}{{32,}}"),  # Telegram bots
    (".", rf"{_EDGE}[MNO][A-Za-z0-9_-]{{23,27}}\.{_WORD}{{6}}\.{_WORD}{{27,}}"),  # Discord bots
    ("hooks.slack.com", r"(?<=hooks\.slack\.com/services/)[A-Za-z0-9/]{16,}"),
    ("/api/webhooks/", r"(?<=/api/webhooks/)[0-9]{8,}/[A-Za-z0-9_-]{16,}"),  # Discord
    ("webhookb2", r"(?<=\.webhook\.office\.com/webhookb2/)[A-Za-z0-9@/-]{16,}"),
    ("8Q~", r"[A-Za-z0-9_~.-]{3}8Q~[A-Za-z0-9_~.-]{31,}"),  # Azure client secrets
    ("dapi", r"dapi[0-9a-f]{32}"),  # Databricks
    ("dckr_", rf"dckr_(?:pat|oat)_{_WORD}{{16,}}"),  # Docker Hub
    ("shp", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{24,}"),  # Shopify
    ("sq0", rf"sq0(?:csp|atp)-{_WORD}{{20,}}"),  # Square
    ("EAAA", rf"EAAA{_WORD}{{56,}}"),
    ("lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{20,}"),  # Linear
    ("secret_", rf"{_EDGE}secret_[A-Za-z0-9]{{40,}}"),  # Notion
    ("ntn_", rf"{_EDGE}ntn_[A-Za-z0-9]{{40,}}"),
    ("figd_", rf"figd_{_WORD}{{20,}}"),  # Figma
    ("gl", r"gl(?:sa|c)_[A-Za-z0-9_+/=]{24,}"),  # Grafana
    ("NRAK-", rf"NRAK-{_WORD}{{20,}}"),  # New Relic
    ("hv", rf"{_EDGE}hv[sbr]\.{_WORD}{{20,}}"),  # HashiCorp Vault
    (".atlasv1.", rf"[A-Za-z0-9]{{14}}\.atlasv1\.{_WORD}{{40,}}"),  # Terraform Cloud
    ("pscale_", rf"pscale_(?:tkn|pw|oauth)_{_WORD}{{20,}}"),  # PlanetScale
    ("fo1_", r"fo1_[A-Za-z0-9_+/=-]{20,}"),  # Fly.io
    ("fm", r"fm[12]_[A-Za-z0-9_+/=-]{20,}"),
    ("nf", r"nf[pcou]_[A-Za-z0-9]{24,}"),  # Netlify
    ("sntry", r"sntry[su]_[A-Za-z0-9_+/=.-]{20,}"),  # Sentry
    ("sbp_", r"sbp_[0-9a-f]{32,}"),  # Supabase
    ("PMAK-", r"PMAK-[0-9a-f]{20,}-[0-9a-f]{20,}"),  # Postman
    ("dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{20,}"),  # Doppler
    ("ops_eyJ", r"ops_eyJ[A-Za-z0-9_-]{20,}"),  # 1Password
    ("AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{20,}"),
    ("ph", r"ph[cx]_[A-Za-z0-9]{24,}"),  # PostHog
    ("tfp_", rf"tfp_{_WORD}{{20,}}"),  # Typeform
    ("eyJ", r"eyJ[A-Za-z0-9_-]{4,2000}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?"),  # JSON web tokens
)
#: To the end of the block, or, where a log was cut, of the rows that look like one. Inside of JSON
#: a line break is two characters.
_BLOCK = (
    r"(?<=-----BEGIN )[A-Z ]*PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:(?!-----)[\s\S]){0,20000}(?=-----END)|(?:\s|\\[nr]|[A-Za-z0-9+/=]{16,})+)"
)
#: What stands in a place where a secret stands; the letters are those of the text in lower case.
_PLACED = (
    ("private key", _BLOCK),
    ("bearer ", r"(?i:(?<=bearer ))[A-Za-z0-9._~+/=-]{8,}"),
    (
        "authorization",
        r"(?i:(?<=authorization: basic )|(?<=authorization: token ))[A-Za-z0-9._~+/=-]{8,}",
    ),
    ("://", r"(?<=://)[^/\s:@\"'`]*:[^/\s@\"'`]+(?=@)"),  # user:password@host, or no user
    ("://", r"(?<=://)[0-9a-f]{32}(?=@)"),  # a Sentry DSN
    ("sig", r"(?i:(?<=[?&;]sig=)|(?<=-signature=))[A-Za-z0-9%+/=_-]{16,}"),
    ("key=", r"(?i:(?<=accountkey=)|(?<=sharedaccesskey=))[A-Za-z0-9+/=]{16,}"),  # Azure
    ("cookie: ", r"(?i:(?<=cookie: ))[^\r\n\"'`]{8,}"),  # both ways
    ("@", r"[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]+\.)+[A-Za-z][A-Za-z0-9-]+"),  # e-mail
)
#: Before a sum that git or a registry tells.
_SUMMED = "".join(f"(?<!{word})" for word in ("commit ", "tree ", "parent ", "sha256:", "sha1:"))
#: Long rows: sums may be keys, and a row of a key may have lost its beginning.
_LONG = re.compile(r"[A-Za-z0-9+/]{40,}")
_ROWS = (
    rf"(?<![0-9A-Fa-f]){_SUMMED}[0-9A-Fa-f]{{40,}}(?![0-9A-Fa-f])",
    r"(?<![A-Za-z0-9+/=_.-])(?=[A-Za-z+/]*[0-9])(?=[a-z0-9+/]*[A-Z])[A-Za-z0-9+/]{60,}={0,2}",
)

_CALLED = (
    r"(?:api|access|secret|private|signing|encryption|service|master|account|auth|client|deploy)"
    r"[_-]?keys?|secret[_-]?access[_-]?key|token|secret|password|passwd|passphrase|pwd|credential"
    r"|client[_-]?key[_-]?data|auth[_-]?token|_auth|jaas|connection[_-]?string"
    r"|パスワード|パスフレーズ|暗証番号|秘密鍵"
)
#: What is called a secret; the value may be in quotes, and then have blanks in it.
_NAMED = re.compile(
    rf"""(?ix) (?:{_CALLED})s? \\{{0,3}}["']? \s*(?:[=:＝：]|=>)\s* \\{{0,3}}
    (?: "(?P<double>[^"\\\n]{{6,}}) | '(?P<single>[^'\\\n]{{6,}})'
    | ["']?(?P<value>[^\s"',;]{{6,}}) )"""
)
#: Where a program has a secret from, and not what it is: a variable, or what a call gives back.
_ELSEWHERE = re.compile(
    r"\$\{?[A-Z][A-Z0-9_]*\}?\)?\\*|process\.env\.[A-Z0-9_]+|os\.(?:environ|getenv)[\[(].*"
)
_GIVEN = re.compile(r"[A-Za-z_][A-Za-z_.]*\([A-Za-z_.]*\)[):]*")
#: What follows a word of a command line, or of a `.netrc`.
_FLAGGED = re.compile(
    r"""(?x) (?<![\w-]) (?: --(?:password|passwd|token|secret|api-key|auth|key|pass)[ ]
    | (?:curl|wget|http)\b[^\n]{0,200}?[ ]-u[ ]["']?[^\s:"']+: | (?:login[ ]\S+[ ])password[ ] )
    ["']?(?P<value>[^\s"',;-][^\s"',;]{3,})"""
)
_NAMES = (
    *("key", "token", "secret", "pass", "pwd", "credential", "_auth", "jaas", "connection"),
    *("パス", "暗証番号", "秘密鍵"),
)
_FLAGS = ("--", " -u ", "password ")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def found(text: str) -> Iterator[tuple[int, int]]:
    """Where in the text something stands that looks like a secret, or is called one."""
    lower = text.lower()
    for letters, pattern in _PREFIXED:
        if letters in text:
            yield from (match.span() for match in _compiled(pattern).finditer(text))
    for letters, pattern in _PLACED:
        if letters in lower:
            yield from (match.span() for match in _compiled(pattern).finditer(text))
    if _LONG.search(text):
        for pattern in _ROWS:
            yield from (match.span() for match in _compiled(pattern).finditer(text))
    if any(letters in lower for letters in _NAMES):
        named = (match for match in _NAMED.finditer(text) if not _is_code(match))
        yield from (match.span(match.lastgroup or 0) for match in named)
    if any(letters in lower for letters in _FLAGS):
        yield from (match.span(match.lastgroup or 0) for match in _FLAGGED.finditer(text))


def _is_code(match: re.Match[str]) -> bool:
    """Whether it is a line of a program that gets the secret from somewhere."""
    value = match[match.lastgroup or 0]
    return bool(_ELSEWHERE.fullmatch(value)) or (
        " = " in match[0] and bool(_GIVEN.fullmatch(value))
    )
