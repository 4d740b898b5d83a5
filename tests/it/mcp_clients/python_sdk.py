"""The official Python SDK's client against a server: python_sdk.py MODE SERVER [ARGUMENT …]

Prints what it saw as one JSON object. MODE is how the client opens: auto or legacy.
"""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError


async def main() -> None:
    mode, command, *arguments = sys.argv[1:]
    server = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
    told = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append(message)

    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
        score = await client.call_tool("score_reward", {"solved": 2})
        wrong = await client.call_tool("score_reward", {"solved": "two"})
        status = await client.call_tool("workspace_status", {}, progress_callback=progress)
        try:
            await client.call_tool("nonsense", {})
            unknown = None
        except MCPError as error:
            unknown = error.error.code
        seen = {
            "version": client.protocol_version,
            "server": client.server_info.name,
            "instructions": bool(client.instructions),
            "tools": sorted(tool.name for tool in tools),
            "solve_rate": score.structured_content["solve_rate"],
            "wrong_is_a_result": wrong.is_error,
            "status_is_a_result": not status.is_error,
            "unknown_tool": unknown,
        }
    print(json.dumps(seen))


asyncio.run(main())
