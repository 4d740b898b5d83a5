"""A server of the official Python SDK with one trivial tool."""

from mcp.server import MCPServer

server = MCPServer("peer")


@server.tool()
def score_reward(solved: int) -> dict[str, float]:
    """The solve rate of eight attempts."""
    return {"solve_rate": solved / 8}


server.run("stdio")
