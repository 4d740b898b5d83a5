--- `:checkhealth ssr_mcp`
local M = {}

--- What a command prints, or why there is nothing.
---@param command string[]
---@return string? printed, string? reason
local function printed(command)
  local ok, process = pcall(vim.system, command, { text = true, timeout = 30000 })
  if not ok then
    return nil, tostring(process)
  end
  local done = process:wait()
  if done.signal ~= 0 then
    return nil, 'it did not end in time'
  end
  -- `doctor` ends with another code where something is amiss, and says what.
  return done.stdout, done.stderr
end

---@return string? program
local function check_program()
  local cmd = vim.lsp.config.ssr_mcp.cmd
  if type(cmd) ~= 'table' then
    vim.health.info('the server is not started by a command: cmd is a function')
    return nil
  end
  local program = vim.fn.exepath(cmd[1])
  if program == '' then
    vim.health.error(('%s is not found, or cannot be run'):format(cmd[1]), {
      'Install it, or say where it is: vim.lsp.config("ssr_mcp", { cmd = { "/path/to/ssr-mcp", "lsp" } })',
    })
    return nil
  end
  local version, reason = printed({ program, '--version' })
  if version and version:find('^ssr%-mcp') then
    vim.health.ok(('%s: %s'):format(program, vim.trim(version)))
    return program
  end
  vim.health.error(('%s does not say its version: %s'):format(program, reason or 'it is another program'))
end

--- Starts a server of its own, and ends it.
---@param program string
local function check_protocol(program)
  local id = vim.lsp.start({
    name = 'ssr_mcp_health',
    cmd = { program, unpack(vim.list_slice(vim.lsp.config.ssr_mcp.cmd, 2)) },
    cmd_env = vim.lsp.config.ssr_mcp.cmd_env,
  }, { attach = false, silent = true })
  local client = id and vim.lsp.get_client_by_id(id)
  local answered = client and vim.wait(10000, function()
    return client.initialized == true or client:is_stopped()
  end, 10) and client.initialized
  if not client or not answered then
    vim.health.error('the server does not answer `initialize`', { 'See ' .. vim.lsp.get_log_path() })
  else
    local info = client.server_info or {}
    vim.health.ok(('LSP: %s %s answers, positions in %s'):format(info.name, info.version, client.offset_encoding))
  end
  if client then
    client:stop()
    vim.wait(5000, function()
      return client:is_stopped() and vim.lsp.get_client_by_id(client.id) == nil
    end, 10)
  end
end

---@param program string
local function check_sandbox(program)
  local text, reason = printed({ program, 'doctor', '--json' })
  local ok, found = pcall(vim.json.decode, text or '', { luanil = { object = true } })
  if not ok or type(found) ~= 'table' then
    vim.health.error('`ssr-mcp doctor` gives no answer: ' .. (reason or ''))
    return
  end
  local sandbox = found.sandbox or {}
  if sandbox.tier then
    vim.health.ok('sandbox: tier ' .. sandbox.tier)
    for _, lack in ipairs(sandbox.lacks or {}) do
      vim.health.info('it lacks: ' .. lack)
    end
  else
    vim.health.error('no sandbox works here: ' .. (sandbox.refusal or 'see `ssr-mcp doctor`'))
  end
  for _, problem in ipairs(found.problems or {}) do
    vim.health.warn(problem)
  end
end

function M.check()
  vim.health.start('ssr_mcp')
  if vim.fn.has('nvim-0.11') == 0 then
    vim.health.error('Neovim 0.11 or later is needed', { 'This is ' .. tostring(vim.version()) })
    return
  end
  vim.health.ok('Neovim ' .. tostring(vim.version()))
  local program = check_program()
  if program then
    check_protocol(program)
    check_sandbox(program)
  end
  local clients = vim.lsp.get_clients({ name = require('ssr_mcp.server').name })
  if #clients == 0 then
    vim.health.info("no server runs; vim.lsp.enable('ssr_mcp') starts one with the first file of a language it knows")
  end
  for _, client in ipairs(clients) do
    vim.health.ok(('a server runs for %s'):format(client.root_dir or 'files without a project'))
  end
end

return M
