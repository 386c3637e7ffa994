"""Every operation of the service has a method, in both clients."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from systems import REPOSITORY

DOCUMENT = json.loads((REPOSITORY / "docs/reference/openapi.json").read_text())
OPERATIONS: dict[str, Any] = {
    operation["operationId"]: operation for path in DOCUMENT["paths"].values() for operation in path.values()
}
#: Listings read pages by themselves; `name` is what some clients send in place of `filename`; `cols` is called `columns`; the
#: rest is of signed links.
OF_THE_CLIENT = {"page", "after", "limit", "name", "filename", "cols", "wait", "async", "async_response"}


def methods(client: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The methods that stand for operations, by the operation's id."""
    package = importlib.import_module(f"process_automation.{client}")
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        for _, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if kind.__module__ == module.name:
                for method in vars(kind).values():
                    for id in getattr(method, "operations", ()):
                        yield id, method


@pytest.mark.parametrize("client", ["_async", "_sync"])
def test_each_operation_has_a_method(client: str) -> None:
    assert {id for id, _ in methods(client)} == set(OPERATIONS)


@pytest.mark.parametrize("client", ["_async", "_sync"])
def test_each_query_of_an_operation_is_a_parameter_of_its_method(client: str) -> None:
    missing = []
    for id, method in methods(client):
        taken = {name.rstrip("_") for name in inspect.signature(method).parameters}
        for parameter in OPERATIONS[id].get("parameters", []):
            if parameter.get("in") == "query" and not parameter["name"].startswith("X-Amz-"):
                name = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in parameter["name"])
                if name not in taken | OF_THE_CLIENT:
                    missing.append((id, name))
    assert missing == []


@pytest.mark.parametrize("client", ["_async", "_sync"])
def test_each_write_under_a_condition_takes_one(client: str) -> None:
    for id, method in methods(client):
        headers = {parameter.get("name") for parameter in OPERATIONS[id].get("parameters", [])}
        if "If-Match" in headers and "Range" not in headers:
            assert "if_match" in inspect.signature(method).parameters, id
