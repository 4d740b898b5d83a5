// A server of the official TypeScript SDK with one trivial tool.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "peer", version: "1" });
const tool = {
  description: "The solve rate of eight attempts.",
  inputSchema: { solved: z.number().int() },
  outputSchema: { solve_rate: z.number() },
};
server.registerTool("score_reward", tool, async ({ solved }) => {
  const structuredContent = { solve_rate: solved / 8 };
  return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
});
await server.connect(new StdioServerTransport());
