-- What exists before the server runs: one command, documents of the server's own scheme, progress.

if vim.g.loaded_ssr_mcp then
  return
end
vim.g.loaded_ssr_mcp = true

vim.api.nvim_create_user_command('SsrMcp', function(given)
  require('ssr_mcp.commands').run(given)
end, {
  nargs = '*',
  bang = true,
  desc = 'Self-play on this repository',
  complete = function(...)
    return require('ssr_mcp.commands').complete(...)
  end,
})

local group = vim.api.nvim_create_augroup('ssr_mcp', {})

vim.api.nvim_create_autocmd('BufReadCmd', {
  group = group,
  pattern = 'ssr-mcp:///*',
  desc = 'A document that the server has: a diff of a bug',
  callback = function(event)
    require('ssr_mcp.documents').read(event.buf)
  end,
})

vim.api.nvim_create_autocmd('LspProgress', {
  group = group,
  desc = 'What require("ssr_mcp").status() tells',
  callback = function(event)
    require('ssr_mcp.notices').progress(event.data)
  end,
})
