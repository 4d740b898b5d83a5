// The MCP server of the same binary, for the editor's agent.

import * as vscode from 'vscode';
import { findBinary } from './binary';

export function provideMcp(context: vscode.ExtensionContext): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  const provider: vscode.McpServerDefinitionProvider<vscode.McpStdioServerDefinition> = {
    onDidChangeMcpServerDefinitions: changed.event,
    provideMcpServerDefinitions: async () => {
      if (!vscode.workspace.isTrusted) return [];
      try {
        const { command, version, environment } = await findBinary(context);
        const definition = new vscode.McpStdioServerDefinition('ssr-mcp', command, ['mcp'], environment, version);
        const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file');
        if (folder) definition.cwd = folder.uri;
        return [definition];
      } catch {
        // The language client says why there is no binary.
        return [];
      }
    },
  };
  return vscode.Disposable.from(
    changed,
    vscode.lm.registerMcpServerDefinitionProvider('ssrMcp.mcp', provider),
    vscode.workspace.onDidGrantWorkspaceTrust(() => changed.fire()),
    vscode.workspace.onDidChangeWorkspaceFolders(() => changed.fire()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('ssrMcp.path') || event.affectsConfiguration('ssrMcp.environment')) changed.fire();
    }),
  );
}
