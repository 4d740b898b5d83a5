--- The running servers, and what they are asked.
local M = {}

M.name = 'ssr_mcp'

--- The server of a buffer; where it has none, the only one that runs.
---@param bufnr integer? 0 or nil: the current one
---@return vim.lsp.Client?
function M.of(bufnr)
  local client = vim.lsp.get_clients({ name = M.name, bufnr = bufnr or 0 })[1]
  if client then
    return client
  end
  local all = vim.lsp.get_clients({ name = M.name })
  return #all == 1 and all[1] or nil
end

---@param text string
---@param level integer?
function M.say(text, level)
  vim.notify('ssr-mcp: ' .. text, level or vim.log.levels.INFO)
end

--- The folder a command is about: that of the client, else what the server makes of the buffer.
---@param client vim.lsp.Client
---@return table
function M.here(client)
  if client.root_dir then
    return { folder = client.root_dir }
  end
  return { uri = vim.uri_from_bufnr(0) }
end

--- Has the server execute one of its commands. An error is said; `done` is called with an answer only.
---@param client vim.lsp.Client?
---@param command string without the prefix
---@param argument table
---@param done fun(answer: any)?
function M.execute(client, command, argument, done)
  if not client then
    M.say(
      "no server runs for this buffer; open a file of a project, with vim.lsp.enable('ssr_mcp') in your "
        .. 'configuration (:checkhealth ssr_mcp tells more)',
      vim.log.levels.ERROR
    )
    return
  end
  local params = { command = 'ssrMcp.' .. command, arguments = { argument } }
  client:request('workspace/executeCommand', params, function(err, answer)
    if err then
      M.say(err.message, vim.log.levels.ERROR)
    elseif done then
      done(answer)
    end
  end)
end

--- The same for a command that is a job: `done` is called with the job's line once it has ended well.
---@param client vim.lsp.Client?
---@param command string
---@param argument table
---@param done fun(line: table)?
function M.begin(client, command, argument, done)
  M.execute(client, command, argument, function(answer)
    if done and type(answer) == 'table' and answer.job then
      require('ssr_mcp.notices').at_end_of(answer.job, done)
    end
  end)
end

return M
