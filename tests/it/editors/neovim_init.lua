-- A person's configuration: the plugin on the runtime path, the server enabled, lenses shown.
vim.opt.runtimepath:prepend(vim.env.SSR_MCP_PLUGIN)
vim.o.swapfile = false
vim.o.hidden = true
vim.lsp.config('ssr_mcp', { cmd = { vim.env.SSR_MCP_BINARY, 'lsp' } })
vim.lsp.enable('ssr_mcp')
