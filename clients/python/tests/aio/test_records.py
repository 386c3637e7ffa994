"""Records of a team: made, read, changed, listed."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from cutting_proxy import CuttingProxy

from process_automation import ApiError, AsyncClient, BadRequest, NotFound, PreconditionFailed, UnexpectedAnswer

pytestmark = pytest.mark.anyio

SOURCE = "return svc.context.parameters"


async def test_a_process_is_changed_as_it_was_read_and_none_clears(pas: AsyncClient, name: str) -> None:
    made = await pas.processes.create(
        name=name,
        source_code=SOURCE,
        description="echo",
        tags=["a", "b"],
        parameters_schema={"type": "object", "properties": {"first_name": {"type": "string", "default": None}}},
        webhook={"enabled": True, "username": "hooks", "password": "secret"},
        settings={"dependencies": {"auto_detect": True}},
    )
    # Names within a schema are the caller's own.
    assert made.parameters_schema == {
        "type": "object",
        "properties": {"first_name": {"type": "string", "default": None}},
    }
    assert made.settings.dependencies.auto_detect
    assert datetime.now(UTC) - made.created_at < timedelta(minutes=5)
    read = await pas.processes.get(name)
    changed = await pas.processes.update(name, if_match=read.etag, description=None, tags=["c"])
    assert (changed.description, changed.tags, changed.webhook.username) == (None, ["c"], "hooks")
    with pytest.raises(PreconditionFailed) as raised:
        await pas.processes.update(name, if_match=read.etag, description="lost")
    assert raised.value.problem["etag"] == changed.etag
    await pas.processes.delete(name, if_match=changed.etag)
    with pytest.raises(NotFound):
        await pas.processes.get(name)


async def test_a_loop_reads_all_pages(pas: AsyncClient, name: str) -> None:
    for number in range(5):
        await pas.processes.create(name=f"{name}-{number}", source_code=SOURCE)
    listing = pas.processes.list(keywords=name, limit=2)
    assert sorted([process.name async for process in listing]) == [f"{name}-{number}" for number in range(5)]
    assert [len(page.data) async for page in listing.pages()] == [2, 2, 1]
    assert (await listing.page(2)).total == 5
    assert len([one async for one in pas.processes.summaries(keywords=name)]) == 5


async def test_versions_and_aliases_name_what_runs(pas: AsyncClient, name: str) -> None:
    await pas.processes.create(name=name, source_code="return 'first'")
    first = await pas.processes.versions.publish(name, tag="v1", comment="the first")
    await pas.processes.update(name, source_code="return 'second'")
    second = await pas.processes.versions.publish(name, tag="v2")
    alias = await pas.processes.aliases.create(name, name="live", version_id="v1")
    assert await pas.processes.call(name, tag="live") == "first"
    moved = await pas.processes.aliases.update(name, alias.id, version_id=second.id)
    assert (await pas.processes.aliases.get(name, alias.id)).version_id == moved.version_id == second.id
    assert await pas.processes.call(name, tag="live") == "second"
    assert [one.tag async for one in pas.processes.versions.list(name)] == ["v2", "v1"]
    assert [one.name async for one in pas.processes.aliases.list(name, version_id=second.id)] == ["live"]
    assert (await pas.processes.versions.get(name, "v1")).comment == "the first"
    await pas.processes.aliases.delete(name, alias.id)
    await pas.processes.versions.delete(name, first.id)
    with pytest.raises(NotFound):
        await pas.processes.versions.get(name, first.id)


async def test_modules_are_kept_and_used(pas: AsyncClient, name: str) -> None:
    source = "export const double = (n) => 2 * n"
    module = await pas.modules.create(name=name, source_code=source, programming_language="JAVASCRIPT")
    await pas.processes.create(name=f"{name}-user", source_code=f"import {{ double }} from '{name}'\nreturn double(21)")
    assert await pas.processes.call(f"{name}-user") == 42
    assert [user.slug async for user in pas.modules.users(module.id)] == [f"{name}-user"]
    version = await pas.modules.versions.publish(module.id, tag="v1")
    alias = await pas.modules.aliases.create(module.id, name="stable", version_id=version.id)
    assert [one.id async for one in pas.modules.aliases.list(module.id)] == [alias.id]
    assert [one.tag async for one in pas.modules.versions.list(module.id)] == ["v1"]
    assert (await pas.modules.versions.get(module.id, "v1")).source_code == source
    assert (await pas.modules.aliases.get(module.id, alias.id)).name == "stable"
    renamed = await pas.modules.aliases.update(module.id, alias.id, name="steady", version_id=version.id)
    assert renamed.name == "steady"
    await pas.processes.delete(f"{name}-user")
    await pas.modules.aliases.delete(module.id, alias.id)
    await pas.modules.versions.delete(module.id, version.id)
    read = await pas.modules.get(module.id)
    changed = await pas.modules.update(module.id, if_match=read.etag, source_code="export const one = 1")
    assert module.id in [one.id async for one in pas.modules.list(limit=1000)]
    await pas.modules.delete(module.id, if_match=changed.etag)


async def test_variables_keep_what_is_sensitive(pas: AsyncClient, name: str) -> None:
    key = name.upper().replace("-", "_")
    plain = await pas.variables.create(key=key, value="shown")
    secret = await pas.variables.create(key=f"{key}_SECRET", value="hidden", is_sensitive=True)
    assert (await pas.variables.get(plain.id)).value == "shown"
    assert (await pas.variables.get(secret.id)).value == "******"
    assert (await pas.variables.update(plain.id, value="other")).value == "other"
    assert [user async for user in pas.variables.users(plain.id)] == []
    assert {plain.id, secret.id} <= {one.id async for one in pas.variables.list(limit=1000)}
    for one in (plain, secret):
        await pas.variables.delete(one.id)


async def test_schedules_are_made_paused_and_run(pas: AsyncClient, name: str) -> None:
    process = await pas.processes.create(name=name, source_code=SOURCE)
    schedule = await pas.schedules.create(name, cron="0 8 * * MON-FRI", input={"parameters": {"first_name": "Ada"}})
    assert [one.id async for one in pas.schedules.list(process_id=process.id)] == [schedule.id]
    await pas.schedules.pause(schedule.id)
    await pas.schedules.resume(schedule.id)
    execution = await pas.schedules.run(schedule.id)
    assert await pas.executions.run(execution.id).result() == {"first_name": "Ada"}
    now = datetime.now(UTC)
    coming = [
        one for one in await pas.schedules.calendar(now, now + timedelta(days=8)) if one.schedule_id == schedule.id
    ]
    assert len(coming) >= 5
    assert (await pas.schedules.get(schedule.id)).id == schedule.id
    assert [one async for one in pas.schedules.firings(schedule.id)] != None
    assert len((await pas.schedules.preview(cron="0 8 * * *", zone_id="Europe/Berlin", count=3)).times) == 3
    later = await pas.schedules.update(schedule.id, cron="0 9 * * *")
    assert later.etag
    await pas.schedules.delete(schedule.id, if_match=later.etag)


async def test_webhooks_and_forms_start_runs(pas: AsyncClient, name: str) -> None:
    await pas.processes.create(
        name=name,
        source_code="return { status: 201, headers: { 'x-made': 'here' }, body: svc.context.parameters.word }",
        parameters_schema={"type": "object", "properties": {"word": {"type": "string"}}},
        webhook={"enabled": True, "username": "hooks", "password": "secret"},
        settings={"forms_config": {"enabled": True}},
    )
    answer = await pas.webhooks.call(name, {"word": "post"}, auth=("hooks", "secret"))
    assert (answer.status_code, answer.headers["x-made"], answer.text) == (201, "here", "post")
    assert (await pas.webhooks.call(name, query={"word": "get"}, auth=("hooks", "secret"))).text == "get"
    run = await pas.webhooks.start(name, {"word": "later"}, auth=("hooks", "secret"))
    assert (await run.result())["body"] == "later"
    request = await pas.executions.request(run.id)
    assert request.method == "POST"
    assert (await (await pas.executions.replay(run.id)).result())["body"] == "later"
    sent = await pas.webhooks.send(name, method="POST", body={"word": "sent"}, headers={"x-a": "b"})
    assert sent.response.status in (201, 401)
    assert len(await pas.webhooks.deliveries(name)) >= 3
    form = await pas.forms.get(name)
    assert form.schema["properties"]["word"] == {"type": "string"}
    assert (await (await pas.forms.submit(name, {"word": "form"})).result())["body"] == "form"
    assert (await pas.forms.submit_sync(name, {"word": "waited"}))["body"] == "waited"


@pytest.mark.parametrize("status", [301, 302, 304])
async def test_what_a_webhook_answers_below_400_is_an_answer(pas: AsyncClient, name: str, status: int) -> None:
    source = f"return {{ status: {status}, headers: {{ location: 'https://example.com/' }} }}"
    await pas.processes.create(name=name, source_code=source, webhook={"enabled": True})
    answer = await pas.webhooks.call(name)
    assert (answer.status_code, answer.headers["location"]) == (status, "https://example.com/")


@pytest.mark.parametrize(
    ("answer", "text", "problem"),
    [
        ("{ status: 409, body: 'sold out' }", "sold out", {}),
        (
            "{ status: 422, body: { message: 'no', errors: { name: ['is short'] } } }",
            '{"message":"no","errors":{"name":["is short"]}}',
            {"message": "no", "errors": {"name": ["is short"]}},
        ),
    ],
)
async def test_what_a_webhook_answers_from_400_on_is_in_its_error(
    pas: AsyncClient, name: str, answer: str, text: str, problem: dict[str, object]
) -> None:
    await pas.processes.create(name=name, source_code=f"return {answer}", webhook={"enabled": True})
    with pytest.raises(ApiError) as raised:
        await pas.webhooks.call(name)
    assert (raised.value.text, raised.value.problem) == (text, problem)
    assert raised.value.execution_id


async def test_code_that_is_not_saved_is_checked_and_run(pas: AsyncClient, name: str) -> None:
    check = await pas.sources.check("JAVASCRIPT", "import fs from 'node:fs'\nreturn 1 +")
    assert not check.ok
    assert check.faults[0].line == 2
    ran = await pas.sources.run(f"console.log('{name}'); return 6 * 7", language="javascript", remove_on_done=True)
    assert (ran.status, ran.return_value, [entry.message for entry in ran.logs]) == ("FINISHED", "42", [name])
    failed = await pas.sources.run("raise ValueError('no')", language="python", remove_on_done=True)
    assert failed.error
    assert failed.error.name == "ValueError"


async def test_the_team_says_what_it_has_and_what_was_done(pas: AsyncClient, name: str) -> None:
    team = await pas.team.get()
    assert (await pas.team.update(if_match=team.etag, name=team.name)).slug == team.slug
    assert team.slug in [one.slug for one in await pas.team.list()]
    assert (await pas.team.limits()).header_prefix == "Svc-"
    usage = await pas.team.usage(from_=datetime.now(UTC) - timedelta(days=1), by="day")
    assert usage.from_ < usage.to
    process = await pas.processes.create(name=name, source_code=f"await svc.datastore.set('{name}', 1); return 1")
    assert [one.type async for one in pas.team.audit_events(entity_id=process.id)] == ["PROCESS"]
    await pas.processes.call(name)
    assert [entry.value async for entry in pas.team.datastore(prefix=name)] == [1]
    owner = await pas.auth.whoami()
    assert owner.team_id == team.slug


async def test_packages_are_staged_and_discarded(pas: AsyncClient) -> None:
    staged = await pas.dependencies.update("JAVASCRIPT", {"is-odd": "3.0.1"})
    assert staged.next_installation
    discarded = await pas.dependencies.discard("JAVASCRIPT")
    assert discarded.next_installation is None
    assert (await pas.dependencies.get("PYTHON")).programming_language == "PYTHON"
    assert [one async for one in pas.dependencies.installs("JAVASCRIPT")] == []
    nothing = "00000000-0000-7000-8000-000000000000"
    with pytest.raises(BadRequest):
        await pas.dependencies.install("JAVASCRIPT")
    with pytest.raises(NotFound):
        await pas.dependencies.rollback("JAVASCRIPT", nothing)
    with pytest.raises(NotFound):
        await pas.dependencies.diff("JAVASCRIPT", nothing, nothing)
    with pytest.raises(NotFound):
        await pas.dependencies.install_logs("JAVASCRIPT", nothing).page()


async def test_members_and_words_of_a_later_release_are_read_over(cut_pas: AsyncClient, proxy: CuttingProxy) -> None:
    log = {"timestamp": "2026-11-24T12:00:00.123456Z", "level": "TRACE", "message": "m", "added": {"in": ["2027"]}}
    page = {"page": 0, "limit": 10, "total": 1, "hasNextPage": False, "data": [log], "added": 1}
    proxy.answer("/logs", 200, json.dumps(page))
    assert [entry.level async for entry in cut_pas.executions.logs("one")] == ["TRACE"]
    proxy.answer("/logs", 200, '{"page":')
    with pytest.raises(UnexpectedAnswer):
        await cut_pas.executions.logs("one").page()
