"""The programs of the guide do what it shows."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import httpx2
from systems import REPOSITORY

from process_automation import Client, NotFound

GUIDE = (REPOSITORY / "docs/guides/python-client.md").read_text()
README = (REPOSITORY / "README.md").read_text()
README_CALL = re.compile(r"-X POST \$base(/processes(?:/\w+/versions)?) [^\n]*?-d '(.*?)'", re.DOTALL)
BLOCKS = re.findall(r"^```(.*?)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


def remove(slug: str) -> None:
    with Client() as pas, suppress(NotFound):
        pas.processes.delete(slug)


def follow_readme() -> None:
    """What the first five minutes leave: the processes of the README, and the version of one."""
    calls = README_CALL.findall(README.replace("\\\n", ""))
    assert [path for path, _ in calls] == ["/processes", "/processes", "/processes/greeting/versions"]
    for slug in ("greeting", "sum"):
        remove(slug)
    with Client() as pas:
        for path, body in calls:
            pas.request("POST", path, json=json.loads(body))


def test_the_programs_print_what_stands_below_them(tmp_path: Path) -> None:
    programs = [
        (program, shown) for (kind, program), (below, shown) in pairwise(BLOCKS) if kind == "python" and below == "text"
    ]
    assert len(programs) == 4
    follow_readme()
    remove("welcome")
    for program, shown in programs:
        ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=100)
        assert ran.stderr == ""
        assert ran.stdout == shown


def test_the_service_answers_with_the_value_of_one_run() -> None:
    (program,) = [program for kind, program in BLOCKS if kind == "python fastapi"]
    names: dict[str, object] = {"__name__": "service"}
    exec(compile(program, "service.py", "exec", dont_inherit=True), names)
    remove("welcome")
    with Client() as pas:
        process = pas.processes.create(name="welcome", source_code="return { text: svc.context.parameters.name }")
        answers = asyncio.run(ask_twice(names["app"]))
        assert [(answer.status_code, answer.json()) for answer in answers] == [(200, {"text": "Ada"})] * 2
        assert len(list(pas.executions.list(process_id=process.id))) == 1
    remove("welcome")
    (answer, _) = asyncio.run(ask_twice(names["app"]))
    assert answer.status_code == 503


async def ask_twice(app: object) -> list[httpx2.Response]:
    async with (
        app.router.lifespan_context(app),  # type: ignore[attr-defined]
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://service") as client,  # type: ignore[arg-type]
    ):
        headers = {"Idempotency-Key": f"welcome-{id(app)}"}
        return [await client.post("/welcomes/Ada", headers=headers) for _ in range(2)]
