"""The client of the Python SDK: finds a tool of a process and one of ours, and calls both."""

import asyncio
import sys

from mcp import Client


async def main(url: str) -> None:
    async with Client(url) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"run_code", "get_process"} <= names, names
        ran = await client.call_tool("run_code", {"code": "return 6 * 7"})
        assert not ran.is_error and ran.structured_content["returnValue"] == 42, ran
        failed = await client.call_tool("run_test-error-handling", {})
        assert failed.is_error and failed.structured_content["status"] == "ERROR", failed


asyncio.run(main(sys.argv[1]))
