-- A whole round in Neovim, as a person plays it. What was seen is printed as one object; what is awaited and does
-- not come is an error.

local PATIENCE = 15 * 60 * 1000
local seen = {}

--- Waits until `what` gives something.
local function await(name, what, patience)
  local got
  vim.wait(patience or PATIENCE, function()
    got = what()
    return got
  end, 20)
  return got or error(name .. ' did not come; messages: ' .. vim.fn.execute('messages'))
end

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
end

local function client()
  return vim.lsp.get_clients({ name = 'ssr_mcp', bufnr = 0 })[1]
end

--- The actions that are offered at the cursor.
local function actions()
  local params = vim.lsp.util.make_range_params(0, client().offset_encoding)
  params.context = { diagnostics = {}, triggerKind = 1 }
  local got = client():request_sync('textDocument/codeAction', params, PATIENCE, 0)
  return got and got.result or {}
end

local function offered(pattern)
  return await('action ' .. pattern, function()
    return vim.iter(actions()):find(function(action)
      return action.title:find(pattern) ~= nil
    end)
  end)
end

--- Runs an action's command with something more in its argument: a seed has the same come out every time.
local function run(pattern, more)
  local command = offered(pattern).command
  command.arguments[1] = vim.tbl_extend('force', command.arguments[1], more)
  client():exec_cmd(command, { bufnr = 0 })
end

--- Has Neovim's own menu take the action with this title.
local function take(pattern)
  offered(pattern)
  vim.lsp.buf.code_action({
    apply = true,
    filter = function(action)
      return action.title:find(pattern) ~= nil
    end,
  })
end

local ended = {}
vim.api.nvim_create_autocmd('User', {
  pattern = 'SsrMcpJobEnded',
  callback = function(event)
    table.insert(ended, event.data)
  end,
})

--- The end of a job of this kind.
local function job(tool)
  return await('the end of ' .. tool, function()
    for index, line in ipairs(ended) do
      if line.tool == tool then
        return table.remove(ended, index)
      end
    end
  end)
end

local told = { kinds = {}, status = '' }
vim.api.nvim_create_autocmd('LspProgress', {
  callback = function(event)
    local value = event.data.params.value
    told.kinds[value.kind] = (told.kinds[value.kind] or 0) + 1
    local status = require('ssr_mcp').status()
    if status ~= '' then
      told.status = status
    end
  end,
})

local function round()
  vim.cmd.edit('ledger/money.py')
  await('a server', function()
    return client() and client().initialized
  end)
  seen.server = client().server_info.name
  seen.encoding = client().offset_encoding
  seen.titles = vim.tbl_map(function(action)
    return action.title
  end, await('actions', function()
    local found = actions()
    return #found > 0 and found
  end))

  run('inject a bug into this workspace', { seed = 3 })
  local injected = job('inject_bug')
  seen.injected = { state = injected.state, valid = injected.result.valid, artifact = injected.result.artifact }
  seen.progress = vim.deepcopy(told)
  seen.idle = require('ssr_mcp').status()
  local short = injected.result.artifact:sub(1, 12)

  -- The list of bugs leads to the place.
  vim.cmd('SsrMcp bugs')
  await('the list of bugs', function()
    return vim.fn.getqflist({ title = 0 }).title == 'Self-play: bugs'
  end)
  seen.listed = #vim.fn.getqflist()
  vim.cmd('cfirst')
  vim.cmd('cclose')
  local source = vim.api.nvim_get_current_buf()
  local before = text()
  await('the server of this file', client)
  await('the lens', function()
    vim.lsp.codelens.refresh({ bufnr = 0 })
    vim.wait(100, function()
      return false
    end)
    return vim.iter(vim.lsp.codelens.get(0)):any(function(lens)
      return lens.command.title == 'Self-play: 1 open bug'
    end)
  end)
  take('put bug ' .. short)
  await('the bug in the buffer', function()
    return text() ~= before
  end)
  seen.on_disk = table.concat(vim.fn.readfile(vim.api.nvim_buf_get_name(0)), '\n') == before

  -- The test that notices it says so.
  local failing = injected.result.report.fail_to_pass[1]
  vim.cmd.edit(failing:match('^[^:]+'))
  local tests = vim.api.nvim_get_current_buf()
  local diagnostic = await('a diagnostic', function()
    return vim.diagnostic.get(tests)[1]
  end)
  seen.diagnostic = {
    source = diagnostic.source,
    severity = vim.diagnostic.severity[diagnostic.severity],
    message = diagnostic.message,
    line = vim.api.nvim_buf_get_lines(tests, diagnostic.lnum, diagnostic.lnum + 1, false)[1],
    test = failing,
  }

  -- Solved from the test, accepted in the code.
  vim.api.nvim_win_set_cursor(0, { diagnostic.lnum + 1, 0 })
  run('solve bug ' .. short, { seed = 1 })
  local solved = job('solve')
  seen.solved = vim.iter(solved.result.attempts):any(function(attempt)
    return attempt.solved
  end)
  vim.api.nvim_set_current_buf(source)
  vim.cmd('cfirst')
  take('apply the repair of bug ' .. short)
  await('the repair in the buffer', function()
    return text() == before
  end)
  seen.repaired = true
  await('the diagnostic to go', function()
    return #vim.diagnostic.get(tests) == 0
  end)

  -- The diff, by its own name.
  vim.cmd('SsrMcp show ' .. short)
  await('the diff', function()
    return vim.api.nvim_buf_get_name(0):find('^ssr%-mcp:///bug/') ~= nil and text() ~= ''
  end)
  local diff = text()
  vim.cmd.edit()
  seen.diff = {
    filetype = vim.bo.filetype,
    modifiable = vim.bo.modifiable,
    readonly = vim.bo.readonly,
    buftype = vim.bo.buftype,
    again = text() == diff,
    text = diff,
  }
  vim.cmd.close()

  seen.completed = {
    verbs = vim.fn.getcompletion('SsrMcp s', 'cmdline'),
    bugs = vim.fn.getcompletion('SsrMcp solve ', 'cmdline'),
    strategies = vim.fn.getcompletion('SsrMcp inject strategy=', 'cmdline'),
  }
  seen.refused = {}
  for _, wrong in ipairs({ 'nonsense', 'inject part=bug' }) do
    local _, problem = pcall(vim.cmd, 'SsrMcp ' .. wrong)
    table.insert(seen.refused, problem)
  end
  vim.cmd('SsrMcp status')
  await('the status', function()
    return vim.fn.execute('messages'):find('bugs kept: 1, real: 1')
  end)
  vim.cmd('SsrMcp jobs')
  await('the jobs', function()
    return vim.api.nvim_buf_get_name(0) == 'ssr-mcp://jobs' and text()
  end)
  seen.jobs = text()
  vim.cmd.close()

  -- Practice: a tab page in a tree of its own.
  local windows, repository = vim.fn.tabpagenr('$'), client() and client().root_dir or vim.fn.getcwd()
  vim.cmd('SsrMcp practise artifact=' .. short)
  job('practice_start')
  await('a tab page', function()
    return vim.fn.tabpagenr('$') > windows and vim.fn.expand('%:t'):find('^test_') and client()
  end)
  local tree = vim.fn.getcwd()
  local at = vim.api.nvim_buf_get_name(0)
  seen.practice = {
    in_tree = vim.fs.relpath(tree, at) ~= nil and tree ~= repository and client().root_dir == tree,
    untouched = vim.fn.getcwd(-1, 1) == repository,
    broken = vim.fn.getqflist({ title = 0 }).title,
  }
  vim.cmd('SsrMcp hint')
  seen.practice.hint = await('a hint', function()
    local messages = vim.fn.execute('messages')
    return messages:find('hints left') and messages
  end)
  for _, command in ipairs({ 'give-up!', 'ratings' }) do
    local bang = command:sub(-1) == '!'
    local name = bang and 'reveal' or command
    vim.cmd('SsrMcp' .. (bang and '! give-up' or ' ' .. command))
    await(name, function()
      return vim.api.nvim_buf_get_name(0) == 'ssr-mcp://' .. name and text() ~= ''
    end)
    seen.practice[name] = text()
    vim.cmd.close()
  end
  vim.cmd.tabclose()

  vim.cmd('checkhealth ssr_mcp')
  seen.health = text()
  vim.cmd.close()
end

local ok, problem = xpcall(round, debug.traceback)
seen.problem = not ok and problem or nil
seen.children = vim.api.nvim_get_proc_children(vim.fn.getpid())
io.stdout:write(vim.json.encode(seen) .. '\n')
vim.cmd('qall!')
