--- What the server tells by itself: progress, that a folder's bugs changed, that a job has ended.
local M = {}

--- Running work by client and token, in the order in which it began.
---@type { key: string, title: string, message: string? }[]
local running = {}

--- Jobs whose end somebody waits for.
---@type table<string, fun(line: table)>
local waiting = {}

--- The last jobs that ended while nobody waited: an end may be read before the answer that names its job.
---@type table[]
local ended = {}
local KEPT = 16

--- For the LspProgress event.
---@param data { client_id: integer, params: { token: string|integer, value: table } }
function M.progress(data)
  local client = vim.lsp.get_client_by_id(data.client_id)
  if not client or client.name ~= require('ssr_mcp.server').name then
    return
  end
  local key = data.client_id .. ' ' .. data.params.token
  local value = data.params.value
  local at
  for index, work in ipairs(running) do
    at = work.key == key and index or at
  end
  if value.kind == 'end' then
    if at then
      table.remove(running, at)
    end
  elseif at then
    running[at].message = value.message or running[at].message
  else
    table.insert(running, { key = key, title = value.title or '', message = value.message })
  end
  vim.cmd.redrawstatus({ bang = true })
end

---@return string
function M.status()
  local said = {}
  for _, work in ipairs(running) do
    table.insert(said, work.message and work.title .. ': ' .. work.message or work.title)
  end
  return table.concat(said, ' | ')
end

--- Calls `done` with the job's line once it has ended well, also if it has already.
---@param job string
---@param done fun(line: table)
function M.at_end_of(job, done)
  for _, line in ipairs(ended) do
    if line.job == job then
      if line.state == 'done' then
        done(line)
      end
      return
    end
  end
  waiting[job] = done
end

--- Lenses are asked for again where they are shown: Neovim 0.11 has no way for a server to ask for it.
---@param client vim.lsp.Client
local function refresh_lenses(client)
  for bufnr in pairs(client.attached_buffers) do
    if vim.api.nvim_buf_is_loaded(bufnr) and #vim.lsp.codelens.get(bufnr) > 0 then
      vim.lsp.codelens.refresh({ bufnr = bufnr })
    end
  end
end

M.handlers = {
  ['ssrMcp/changed'] = function(_, params, ctx)
    local client = vim.lsp.get_client_by_id(ctx.client_id)
    if client then
      require('ssr_mcp.bugs').refresh(client)
      refresh_lenses(client)
    end
    vim.api.nvim_exec_autocmds('User', { pattern = 'SsrMcpChanged', data = params })
  end,
  ['ssrMcp/jobEnded'] = function(_, line)
    local done = waiting[line.job]
    waiting[line.job] = nil
    if not done then
      table.insert(ended, line)
      if #ended > KEPT then
        table.remove(ended, 1)
      end
    elseif line.state == 'done' then
      done(line)
    end
    vim.api.nvim_exec_autocmds('User', { pattern = 'SsrMcpJobEnded', data = line })
  end,
}

return M
