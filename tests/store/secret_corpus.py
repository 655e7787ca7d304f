"""A secret of every kind, in the words that it comes with. All are made up, and made of parts."""

from __future__ import annotations

HEX = "0123456789abcdef" * 8
MIX = "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1z2" * 6
UP = "A1B2C3D4E5F6G7H8J9K0" * 4
B64 = "MIIEpAIBAAKCAQEA7bq9/aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1z2+" * 4


def _key(kind: str) -> str:
    dashes = "-" * 5
    rows = "\n".join(B64[n : n + 64] for n in range(0, 192, 64))
    return f"{dashes}BEGIN {kind}{dashes}\n{rows}\n{dashes}END {kind}{dashes}"


#: kind → (what must not be found afterwards, the text it stands in)
CORPUS: dict[str, tuple[str, str]] = {}


def _plain(kind: str, secret: str, text: str = "using {} for the request") -> None:
    CORPUS[kind] = (secret, text.format(secret))


for _kind, _secret in {
    "anthropic": "sk-" + "ant-api03-" + MIX[:90],
    "openai": "sk-" + MIX[:48],
    "openai project": "sk-" + "proj-" + MIX[:60],
    "openrouter": "sk-" + "or-v1-" + HEX[:64],
    "github personal": "gh" + "p_" + MIX[:36],
    "github oauth": "gh" + "o_" + MIX[:36],
    "github user": "gh" + "u_" + MIX[:36],
    "github server": "gh" + "s_" + MIX[:36],
    "github refresh": "gh" + "r_" + MIX[:36],
    "github fine-grained": "github" + "_pat_" + MIX[:82],
    "gitlab personal": "gl" + "pat-" + MIX[:20],
    "gitlab runner": "gl" + "rt-" + MIX[:20],
    "gitlab deploy": "gl" + "dt-" + MIX[:20],
    "bitbucket": "AT" + "BB" + MIX[:32],
    "atlassian": "ATA" + "TT3" + MIX[:80] + "=" + "0A1B2C3D",
    "slack bot": "xo" + "xb-123456789012-" + MIX[:24],
    "slack user": "xo" + "xp-123456789012-" + MIX[:24],
    "slack app": "xa" + "pp-1-A01234567-" + HEX[:32],
    "google api": "AI" + "za" + MIX[:35],
    "google client secret": "GOC" + "SPX-" + MIX[:28],
    "google access": "ya" + "29." + MIX[:60],
    "google refresh": "1/" + "/0" + MIX[:40],
    "aws access": "AK" + "IA" + UP[:16],
    "aws temporary": "AS" + "IA" + UP[:16],
    "npm": "np" + "m_" + MIX[:36],
    "pypi": "py" + "pi-" + MIX[:80],
    "rubygems": "ruby" + "gems_" + HEX[:48],
    "crates.io": "ci" + "o" + MIX[:32],
    "hugging face": "h" + "f_" + MIX[:34],
    "replicate": "r" + "8_" + MIX[:37],
    "groq": "gs" + "k_" + MIX[:52],
    "xai": "xa" + "i-" + MIX[:80],
    "perplexity": "pp" + "lx-" + MIX[:48],
    "tavily": "tv" + "ly-" + MIX[:32],
    "langsmith": "ls" + "v2_pt_" + HEX[:32] + "_" + HEX[:10],
    "stripe live": "sk_" + "live_" + MIX[:24],
    "stripe restricted": "rk_" + "live_" + MIX[:24],
    "stripe test": "sk_" + "test_" + MIX[:24],
    "stripe webhook": "wh" + "sec_" + MIX[:32],
    "twilio key": "S" + "K" + HEX[:32],
    "sendgrid": "S" + "G." + MIX[:22] + "." + MIX[:43],
    "mailgun": "ke" + "y-" + HEX[:32],
    "mailchimp": HEX[:32] + "-us" + "12",
    "brevo": "xkey" + "sib-" + HEX[:64] + "-" + MIX[:16],
    "digitalocean": "do" + "p_v1_" + HEX[:64],
    "heroku": "HR" + "KU-" + MIX[:60],
    "telegram": "123456789" + ":AA" + MIX[:33],
    "discord bot": "MT" + MIX[:22] + "." + MIX[:6] + "." + MIX[:38],
    "azure client": "abc" + "8Q" + "~" + MIX[:34],
    "databricks": "da" + "pi" + HEX[:32],
    "docker hub": "dckr" + "_pat_" + MIX[:27],
    "shopify": "shp" + "at_" + HEX[:32],
    "square": "sq0" + "csp-" + MIX[:43],
    "linear": "lin" + "_api_" + MIX[:40],
    "notion": "secret" + "_" + MIX[:43],
    "notion new": "nt" + "n_" + MIX[:46],
    "figma": "fi" + "gd_" + MIX[:40],
    "grafana": "gl" + "sa_" + MIX[:32] + "_" + HEX[:8],
    "new relic": "NR" + "AK-" + UP[:27],
    "vault": "hv" + "s." + MIX[:90],
    "terraform": MIX[:14] + ".atlas" + "v1." + MIX[:60],
    "planetscale": "pscale" + "_pw_" + MIX[:43],
    "fly": "fm" + "2_" + MIX[:60],
    "netlify": "nf" + "p_" + MIX[:36],
    "sentry": "sntr" + "ys_" + MIX[:60],
    "supabase": "sb" + "p_" + HEX[:40],
    "postman": "PM" + "AK-" + HEX[:24] + "-" + HEX[:34],
    "doppler": "dp" + ".pt." + MIX[:43],
    "1password": "ops_" + "eyJ" + MIX[:60],
    "age": "AGE-SECRET-" + "KEY-1" + UP[:58],
    "posthog": "ph" + "x_" + MIX[:43],
    "typeform": "tf" + "p_" + MIX[:40],
    "json web token": "ey" + "J" + MIX[:30] + ".eyJ" + MIX[:40] + "." + MIX[:43],
    "sum": HEX[:64],
}.items():
    _plain(_kind, _secret)

for _kind in ("RSA ", "EC ", "OPENSSH ", "DSA ", "ENCRYPTED ", ""):
    _whole = _key(f"{_kind}PRIVATE KEY")
    CORPUS[f"private key {_kind}".strip()] = (_whole.split("\n")[2], f"cat key\n{_whole}\nok")
_whole = _key("PGP PRIVATE KEY BLOCK").replace("\nM", "\nVersion: GnuPG v2\n\nM", 1)
CORPUS["private key of PGP"] = (_whole.split("\n")[4], _whole)
_whole = _key("PRIVATE KEY")
CORPUS["private key in JSON"] = (
    B64[64:128],
    '{"private_key": "' + _whole.replace("\n", "\\n") + '"}',
)
CORPUS["private key without its head"] = (B64[64:128], "\n".join(_whole.split("\n")[2:]))
CORPUS["private key without its end"] = (B64[64:128], "\n".join(_whole.split("\n")[:-1]))

for _kind, _secret, _text in (
    ("bearer", "abcDEF123456", "Authorization: Bearer {}"),
    ("basic", "dXNlcjpwYXNz", "Authorization: Basic {}"),
    ("token header", "abcdef1234567", "Authorization: token {}"),
    ("api key header", "abcdef1234567", "X-Api-Key: {}"),
    ("cookie", "sessionid=abc123def", "Cookie: {}; theme=dark"),
    ("set-cookie", "sid=s%3Aabc.def", "Set-Cookie: {}; HttpOnly"),
    ("url", "hunter2pass", "git clone https://me:{}@example.org/x.git"),
    ("postgres", "hunter2pass", "postgresql://app:{}@db.internal:5432/app"),
    ("redis", "hunter2pass", "redis://:{}@127.0.0.1:6379/0"),
    ("mongodb", "hunter2pass", "mongodb+srv://app:{}@cluster0.example.net/db"),
    ("amqp", "hunter2pass", "amqps://app:{}@mq.example.net/vhost"),
    ("sentry dsn", HEX[:32], "dsn https://{}@o1.ingest.sentry.io/1"),
    ("slack webhook", "T0123ABCD/B0123ABCD/" + MIX[:24], "https://hooks.slack.com/services/{}"),
    ("discord webhook", "123456789012/" + MIX[:60], "https://discord.com/api/webhooks/{}"),
    ("teams webhook", MIX[:36], "https://x.webhook.office.com/webhookb2/{}"),
    ("aws secret", "wJalrXUtnFEMI/K7MDENG/bPx" + "RfiCYEXAMPLE", "aws_secret_access_key = {}"),
    ("aws session", MIX[:40], "AWS_SESSION_TOKEN={}"),
    ("azure storage", "abcDEF123456+/ghij==", "AccountName=x;AccountKey={};EndpointSuffix=y"),
    ("azure bus", "abcDEF123456+/ghij==", "SharedAccessKeyName=r;SharedAccessKey={}"),
    ("azure sas", "abc%2BDEF123456%3D", "https://x.blob.core.windows.net/c?sv=2024&sig={}"),
    ("signed s3 url", HEX[:64], "https://b.s3.amazonaws.com/k?X-Amz-Signature={}"),
    ("signed gcs url", HEX[:64], "https://storage.googleapis.com/b?X-Goog-Signature={}"),
    ("env file", "hunter2pass", "DB_PASSWORD={}"),
    ("json", "correct horse battery", '{{"password": "{}"}}'),
    ("yaml", "hunter2pass", "secret_key: {}"),
    ("single quotes", "correct horse battery", "password = '{}'"),
    ("ruby", "hunter2pass", ":password => {}"),
    ("npmrc", MIX[:36], "//registry.example.org/:_authToken={}"),
    ("docker config", "dXNlcjpodW50ZXIy", '"_auth": "{}"'),
    ("kubeconfig", "LS0tLS1CRUdJTiBSU0E", "client-key-data: {}"),
    ("connection string", "hunter2pass", "Server=db;User Id=sa;Password={};Encrypt=true"),
    ("flag", "hunter2pass", "mysql --password={} app"),
    ("flag with a blank", "hunter2pass", "deploy --token {} --now"),
    ("curl", "hunter2pass", "curl -s -u admin:{} https://example.org"),
    ("netrc", "hunter2pass", "machine example.org login me password {}"),
    ("datadog", HEX[:32], "DD_API_KEY={}"),
    ("vercel", MIX[:24], "VERCEL_TOKEN={}"),
    ("cloudflare", MIX[:40], "CF_API_TOKEN={}"),
    ("heroku key", "01234567-89ab-cdef-0123-456789abcdef", "HEROKU_API_KEY={}"),
    ("passphrase", "hunter2pass", "passphrase: {}"),
    ("e-mail", "someone@example.org", "Author: A Person <{}>"),
):
    _plain(_kind, _secret, _text)
