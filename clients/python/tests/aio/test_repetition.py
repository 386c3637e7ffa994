"""What is asked for again, and what never is."""

from __future__ import annotations

import json

import pytest
from cutting_proxy import CuttingProxy
from systems import System

from process_automation import (
    ApiError,
    AsyncClient,
    BadRequest,
    ConnectionError,
    NotFound,
    RequestTimeout,
    ServerFault,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)

pytestmark = pytest.mark.anyio

COUNT = "return svc.context.parameters"


async def test_a_start_whose_answer_is_lost_starts_one_run(
    cut_pas: AsyncClient, pas: AsyncClient, proxy: CuttingProxy, name: str
) -> None:
    process = await pas.processes.create(name=name, source_code=COUNT)
    proxy.lose_answer("/execute ")
    run = await cut_pas.processes.run(name, {"a": 1})
    assert proxy.count("/execute ") == 2
    assert await run.result() == {"a": 1}
    assert [record.id async for record in pas.executions.list(process_id=process.id)] == [run.id]


async def test_a_value_whose_answer_is_lost_comes_of_one_run(
    cut_pas: AsyncClient, pas: AsyncClient, proxy: CuttingProxy, name: str
) -> None:
    process = await pas.processes.create(name=name, source_code=COUNT, webhook={"enabled": True})
    proxy.lose_answer("/execute-sync ")
    assert await cut_pas.processes.execute_sync(name, {"a": 1}) == {"a": 1}
    proxy.lose_answer("/webhooks/")
    assert (await cut_pas.webhooks.call(name, {"a": 2})).json() == {"a": 2}
    assert len([record async for record in pas.executions.list(process_id=process.id)]) == 2


async def test_what_may_have_been_done_is_not_asked_for_again(
    cut_pas: AsyncClient, pas: AsyncClient, proxy: CuttingProxy, name: str
) -> None:
    proxy.lose_answer("/processes ")
    with pytest.raises(ConnectionError) as raised:
        await cut_pas.processes.create(name=name, source_code=COUNT)
    assert isinstance(raised.value, OSError)
    assert proxy.count("POST ") == 2  # the first exchanged the token
    assert len([one async for one in pas.processes.list(keywords=name)]) == 1
    process = await pas.processes.get(name)
    run = await pas.processes.run(name)
    await run.result()
    for status in (503, 429):
        proxy.answer("/rerun ", status, Retry_After="0")
        with pytest.raises(ApiError):
            await cut_pas.executions.rerun(run.id)
    proxy.lose_answer("PATCH ")
    with pytest.raises(ConnectionError):
        await cut_pas.processes.update(name, description="once")
    assert proxy.count("PATCH ") == 1
    assert (await pas.processes.get(name)).revision == process.revision + 1


async def test_reads_and_deletions_are_asked_for_again(
    cut_pas: AsyncClient, pas: AsyncClient, proxy: CuttingProxy, name: str
) -> None:
    await pas.processes.create(name=name, source_code=COUNT)
    proxy.lose_answer(f"/{name} ")
    assert (await cut_pas.processes.get(name)).slug == name
    proxy.answer(f"/{name} ", 502, "<html>Bad Gateway</html>", Content_Type="text/html")
    proxy.answer(f"/{name} ", 503, Retry_After="0")
    assert (await cut_pas.processes.get(name)).slug == name
    proxy.answer("DELETE ", 503, Retry_After="0")
    await cut_pas.processes.delete(name)
    assert proxy.count("DELETE ") == 2


async def test_what_was_done_though_its_answer_was_lost_is_not_refused(
    cut_pas: AsyncClient, pas: AsyncClient, proxy: CuttingProxy, name: str
) -> None:
    await pas.processes.create(name=name, source_code=COUNT)
    schedule = await pas.schedules.create(name, cron="0 8 * * *")
    proxy.lose_answer("/pause ")
    await cut_pas.schedules.pause(schedule.id)
    proxy.lose_answer("/resume ")
    await cut_pas.schedules.resume(schedule.id)
    proxy.lose_answer("DELETE ")
    await cut_pas.schedules.delete(schedule.id)
    assert proxy.count(f"/{schedule.id}") == 6
    await pas.dependencies.update("PYTHON", {"six": "*"})
    proxy.lose_answer("/install ")
    assert (await cut_pas.dependencies.discard("PYTHON")).next_installation is None
    # Known to have done nothing at first.
    proxy.answer("DELETE ", 429, Retry_After="0")
    with pytest.raises(NotFound):
        await cut_pas.schedules.delete(schedule.id)


async def test_too_many_requests_are_waited_for_as_the_service_says(cut_pas: AsyncClient, proxy: CuttingProxy) -> None:
    problem = json.dumps({"code": "too_many_calls", "detail": "Slower"})
    proxy.answer("/team ", 429, problem, Retry_After="1")
    assert await cut_pas.team.get()
    assert proxy.count("/team ") == 2
    proxy.answer("/team ", 429, problem, Retry_After="3600")
    with pytest.raises(TooManyRequests, match="Slower") as raised:
        await cut_pas.team.get()
    assert (raised.value.code, raised.value.retry_after) == ("too_many_calls", 3600)


async def test_after_some_attempts_the_last_refusal_is_raised(cut_pas: AsyncClient, proxy: CuttingProxy) -> None:
    for _ in range(3):
        proxy.answer("/limits ", 503, Retry_After="0")
    with pytest.raises(Unavailable):
        await cut_pas.team.limits()
    assert proxy.count("/limits ") == 3


async def test_a_run_that_takes_too_long_for_an_answer_is_not_started_again(
    cut_pas: AsyncClient, pas: AsyncClient, proxy: CuttingProxy, name: str
) -> None:
    await pas.processes.create(name=name, source_code=COUNT)
    problem = json.dumps({"code": "execution_timeout", "detail": "It goes on", "executionId": name})
    proxy.answer("/execute-sync ", 408, problem)
    with pytest.raises(RequestTimeout) as raised:
        await cut_pas.processes.execute_sync(name)
    assert raised.value.execution_id == name
    assert proxy.count("/execute-sync ") == 1


async def test_a_token_that_has_expired_is_exchanged_once_more(cut_pas: AsyncClient, proxy: CuttingProxy) -> None:
    assert await cut_pas.team.get()
    proxy.answer("/team ", 401)
    assert await cut_pas.team.get()
    assert proxy.count("auth/token") == 2
    for _ in range(2):
        proxy.answer("/team ", 401)
    with pytest.raises(Unauthorized):
        await cut_pas.team.get()
    assert proxy.count("auth/token") == 3


async def test_an_access_token_is_used_as_it_is(system: System, pas: AsyncClient, name: str) -> None:
    account = await pas.auth.create_service_account(name, scopes=["read", "run", "build"])
    token = await pas.auth.token(account.client_id, account.client_secret, scopes=["read"])
    async with AsyncClient(system.host, system.team, token.access_token) as reader:
        assert (await reader.team.get()).slug == system.team
        with pytest.raises(ApiError) as raised:
            await reader.processes.create(name=name)
        assert (raised.value.status, raised.value.problem["requiredScope"]) == (403, "build")
        with pytest.raises(ValueError, match="API token"):
            await reader.auth.whoami()
    async with AsyncClient(system.host, system.team, account.api_token) as owner:
        assert (await owner.auth.whoami()).name == name
    assert name in [one.name async for one in pas.auth.service_accounts()]
    await pas.auth.delete_service_account(account.id)
    async with AsyncClient(system.host, system.team, account.api_token) as gone:
        with pytest.raises(Unauthorized):
            await gone.team.get()


async def test_refusals_say_what_is_wrong_and_where(pas: AsyncClient, name: str) -> None:
    with pytest.raises(NotFound) as missing:
        await pas.processes.get(name)
    assert missing.value.code == "process_not_found"
    assert missing.value.request_id
    with pytest.raises(BadRequest) as wrong:
        await pas.processes.create(name=name, slug="Not A Slug!")
    assert [fault.path for fault in wrong.value.errors] == ["/slug"]
    await pas.processes.create(name=name, source_code="throw new Error('no')")
    with pytest.raises(ServerFault) as failed:
        await pas.processes.execute_sync(name)
    assert failed.value.code == "execution_failed"
    assert failed.value.execution_id
    with pytest.raises(ValueError, match="names nothing"):
        await pas.processes.delete("")


async def test_where_nobody_listens_it_says_so() -> None:
    async with AsyncClient("http://127.0.0.1:9", "team", "sk-none", max_retries=0) as nobody:
        with pytest.raises(ConnectionError, match=r"http://127\.0\.0\.1:9/"):
            await nobody.team.get()
        with pytest.raises(ConnectionError):
            await anext(nobody.events.stream())
