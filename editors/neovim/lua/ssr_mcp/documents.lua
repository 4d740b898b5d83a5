--- Documents that only the server has, as buffers that cannot be changed; and texts that are shown once.
local M = {}

--- The buffer's name for a URI. Neovim takes for a URL only what has `://`.
---@param uri string
---@return string
function M.name(uri)
  return (uri:gsub('^ssr%-mcp:/+', 'ssr-mcp:///'))
end

---@param bufnr integer
---@param text string
---@param filetype string
local function fill(bufnr, text, filetype)
  vim.bo[bufnr].readonly = false
  vim.bo[bufnr].modifiable = true
  local lines = vim.split(text, '\n', { plain = true })
  if lines[#lines] == '' then
    table.remove(lines)
  end
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].buftype = 'nofile'
  vim.bo[bufnr].swapfile = false
  vim.bo[bufnr].filetype = filetype
  vim.bo[bufnr].modified = false
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].readonly = true
end

--- Fills a buffer whose name is a URI of the server's; for BufReadCmd.
---@param bufnr integer
function M.read(bufnr)
  local uri = vim.api.nvim_buf_get_name(bufnr)
  fill(bufnr, '', 'diff')
  local clients = vim.lsp.get_clients({ name = require('ssr_mcp.server').name })
  if #clients == 0 then
    require('ssr_mcp.server').say('no server runs that has ' .. uri, vim.log.levels.ERROR)
    return
  end
  -- The URI says which folder it is of; of several servers the one that has it answers.
  local refusal
  for _, client in ipairs(clients) do
    local got = client:request_sync('workspace/textDocumentContent', { uri = uri }, 5000, bufnr)
    if got and got.result then
      fill(bufnr, got.result.text, 'diff')
      return
    end
    refusal = got and got.err and got.err.message or refusal
  end
  require('ssr_mcp.server').say(refusal or ('no answer for ' .. uri), vim.log.levels.ERROR)
end

--- Shows the document that the command `show` or `missingTest` answered with.
---@param answer { uri: string }
function M.open(answer)
  local bufnr = vim.fn.bufadd(M.name(answer.uri))
  vim.bo[bufnr].buflisted = true
  local window = vim.fn.win_findbuf(bufnr)[1]
  if window then
    vim.api.nvim_set_current_win(window)
  else
    vim.cmd.split()
    vim.api.nvim_win_set_buf(0, bufnr)
  end
end

--- Shows a text below; one of the same name takes its place.
---@param name string
---@param text string
---@param filetype string?
function M.text(name, text, filetype)
  name = 'ssr-mcp://' .. name
  local bufnr = vim.fn.bufadd(name)
  vim.fn.bufload(bufnr)
  local window = vim.fn.win_findbuf(bufnr)[1]
  if window then
    vim.api.nvim_set_current_win(window)
  else
    vim.cmd('botright 15split')
    vim.api.nvim_win_set_buf(0, bufnr)
  end
  vim.bo[bufnr].bufhidden = 'wipe'
  fill(bufnr, text, filetype or '')
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
end

return M
