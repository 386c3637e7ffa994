"""The programs of the guide do what it shows."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import httpx2
from systems import REPOSITORY

from process_automation import Client, NotFound

GUIDE = (REPOSITORY / "docs/guides/python-client.md").read_text()
BLOCKS = re.findall(r"^```(.*?)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


def remove_greeting() -> None:
    with Client() as pas:
        try:
            pas.processes.delete("greeting")
        except NotFound:
            return


def test_the_programs_print_what_stands_below_them(tmp_path: Path) -> None:
    programs = [
        (program, shown) for (kind, program), (below, shown) in pairwise(BLOCKS) if kind == "python" and below == "text"
    ]
    assert len(programs) == 4
    remove_greeting()
    for program, shown in programs:
        ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=100)
        assert ran.stderr == ""
        assert ran.stdout == shown


def test_the_service_answers_with_the_value_of_one_run() -> None:
    (program,) = [program for kind, program in BLOCKS if kind == "python fastapi"]
    names: dict[str, object] = {"__name__": "service"}
    exec(compile(program, "service.py", "exec", dont_inherit=True), names)
    remove_greeting()
    with Client() as pas:
        process = pas.processes.create(name="greeting", source_code="return { text: svc.context.parameters.name }")
        answers = asyncio.run(ask_twice(names["app"]))
        assert [(answer.status_code, answer.json()) for answer in answers] == [(200, {"text": "Ada"})] * 2
        assert len(list(pas.executions.list(process_id=process.id))) == 1
    remove_greeting()
    (answer, _) = asyncio.run(ask_twice(names["app"]))
    assert answer.status_code == 503


async def ask_twice(app: object) -> list[httpx2.Response]:
    async with (
        app.router.lifespan_context(app),  # type: ignore[attr-defined]
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://service") as client,  # type: ignore[arg-type]
    ):
        headers = {"Idempotency-Key": f"greeting-{id(app)}"}
        return [await client.post("/greetings/Ada", headers=headers) for _ in range(2)]
