"""Where a client calls, and how patiently."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

VERSION = "0.1.0"


@dataclass(frozen=True)
class Settings:
    """Times are in seconds."""

    url: str
    team: str
    token: str = field(repr=False)
    request_timeout: float
    max_retries: int
    header_prefix: str
    headers: Mapping[str, str] = field(repr=False)

    @property
    def rest(self) -> str:
        return f"{self.url}/api/{segment(self.team)}/rest"

    @property
    def below_team(self) -> str:
        return f"{self.url}/api/{segment(self.team)}"

    @property
    def has_api_token(self) -> bool:
        """Whether the token is one that is exchanged; an access token has the three parts of a JWT."""
        return not (self.token.startswith("eyJ") and self.token.count(".") == 2)

    @property
    def api_token(self) -> str:
        """For what takes no access token. Raises ValueError where there is none."""
        if not self.has_api_token:
            raise ValueError("This takes an API token, and the client has an access token")
        return self.token


def read_settings(
    url: str | None,
    team: str | None,
    token: str | None,
    *,
    request_timeout: float,
    max_retries: int,
    header_prefix: str,
    headers: Mapping[str, str] | None,
    user_agent: str | None,
) -> Settings:
    """Takes from the environment what is not given. Raises ValueError with all that is missing."""
    given = {"PAS_URL": url, "PAS_TEAM": team, "PAS_TOKEN": token}
    values = {name: value or os.environ.get(name, "") for name, value in given.items()}
    missing = [name for name, value in values.items() if not value]
    if missing:
        named = ", ".join(name.removeprefix("PAS_").lower() for name in missing)
        raise ValueError(f"The client needs {named}: as arguments, or in the environment as {', '.join(missing)}")
    address = urlsplit(values["PAS_URL"])
    if address.scheme not in ("http", "https") or not address.netloc:
        raise ValueError(f"The URL {values['PAS_URL']!r} is no http or https address")
    return Settings(
        url=values["PAS_URL"].rstrip("/"),
        team=values["PAS_TEAM"],
        token=values["PAS_TOKEN"].strip(),
        request_timeout=request_timeout,
        max_retries=max_retries,
        header_prefix=header_prefix,
        headers={"User-Agent": user_agent or f"process-automation-client-python/{VERSION}", **(headers or {})},
    )


def segment(value: str, *, keep_slashes: bool = False) -> str:
    """A part of a path, or several. One that is empty, or that has a part of dots, leads elsewhere: ValueError."""
    if not value or any(part in (".", "..") for part in value.split("/")):
        raise ValueError(f"{value!r} names nothing: give a name without parts that are . or ..")
    return quote(value, safe="/" if keep_slashes else "")
