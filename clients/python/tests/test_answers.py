"""Answers that come in pieces, late or never."""

from __future__ import annotations

import httpx2

from process_automation import Client

ACCESS_TOKEN = "eyJh.eyJl.c2ln"


def test_a_log_is_the_same_text_however_it_is_cut() -> None:
    content = "aé€😀".encode() + b"\xff" + "é".encode()[:1]
    for size in range(1, len(content) + 1):
        pieces = [content[at : at + size] for at in range(0, len(content), size)]
        service = httpx2.MockTransport(lambda _, pieces=pieces: httpx2.Response(200, content=iter(pieces)))
        with (
            httpx2.Client(transport=service) as http,
            Client("http://pas", "demo", ACCESS_TOKEN, http_client=http) as pas,
        ):
            assert "".join(pas.executions.log_text("an-id")) == content.decode(errors="replace")
