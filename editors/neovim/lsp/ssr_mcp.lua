-- The server's configuration for |vim.lsp.enable()|: `vim.lsp.enable('ssr_mcp')` is all that is needed, and
-- `vim.lsp.config('ssr_mcp', { … })` changes what stands here.

--- The directory that is played in: that of a practice tree, else the project's, else the current one where
--- the file is below it.
---@param bufnr integer
---@param on_dir fun(root: string?)
local function root_dir(bufnr, on_dir)
  local file = vim.api.nvim_buf_get_name(bufnr)
  if file == '' or vim.bo[bufnr].buftype ~= '' then
    return
  end
  local cwd = vim.fn.getcwd()
  local root = require('ssr_mcp.practice').tree_of(file) or vim.fs.root(bufnr, vim.lsp.config.ssr_mcp.root_markers)
  on_dir(root or (vim.fs.relpath(cwd, file) and cwd) or nil)
end

---@type vim.lsp.Config
return {
  cmd = { 'ssr-mcp', 'lsp' },
  filetypes = {
    'c',
    'cpp',
    'cs',
    'go',
    'java',
    'javascript',
    'javascriptreact',
    'php',
    'python',
    'ruby',
    'rust',
    'typescript',
    'typescriptreact',
  },
  root_markers = {
    { '.git', '.hg', '.jj' },
    {
      'pyproject.toml',
      'setup.py',
      'Cargo.toml',
      'package.json',
      'go.mod',
      'CMakeLists.txt',
      'pom.xml',
      'composer.json',
      'Gemfile',
    },
  },
  root_dir = root_dir,
  capabilities = {
    -- Neovim checks versions, but does not say that it can.
    workspace = { workspaceEdit = { documentChanges = true } },
    experimental = { ssrMcp = true },
  },
  settings = { ssrMcp = vim.empty_dict() },
  commands = require('ssr_mcp.commands').of_client,
  handlers = require('ssr_mcp.notices').handlers,
  before_init = function(params, config)
    -- What is set holds from the first answer on.
    params.initializationOptions = vim.tbl_deep_extend('force', params.initializationOptions or {}, config.settings)
  end,
}
