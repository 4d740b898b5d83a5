--- `:SsrMcp`: what is no code action and no lens, or takes more than one can say there.
local bugs = require('ssr_mcp.bugs')
local documents = require('ssr_mcp.documents')
local practice = require('ssr_mcp.practice')
local server = require('ssr_mcp.server')

local M = {}

local STRATEGIES = { 'mixed', 'direct', 'removal', 'history' }
local PARTS = { 'bug', 'weakening', 'reversed' }
local PICKS = { new = 'new', next = 'next', ['wrong-book'] = 'wrongBook' }

---@class ssr_mcp.Given
---@field words string[] what stands without a key
---@field keys table<string, string>
---@field bang boolean

--- What a command is about: what is said, with `!` the whole workspace, else the file that is shown.
---@param client vim.lsp.Client
---@param given ssr_mcp.Given
---@param target string?
---@return table
local function about(client, given, target)
  local argument = server.here(client)
  argument.strategy = given.keys.strategy
  argument.seed = tonumber(given.keys.seed)
  if target then
    argument.target = target
  elseif not given.bang and vim.bo.buftype == '' and vim.api.nvim_buf_get_name(0) ~= '' then
    argument.uri = vim.uri_from_bufnr(0)
  end
  return argument
end

---@param client vim.lsp.Client
---@param argument table
local function show(client, argument)
  server.execute(client, 'show', argument, documents.open)
end

---@param client vim.lsp.Client
---@param argument table
local function unnoticed(client, argument)
  server.begin(client, 'unnoticed', argument, function(line)
    local folder = argument.folder or client.root_dir or ''
    local items = vim.tbl_map(function(edit)
      return {
        filename = vim.fs.joinpath(folder, edit.file),
        lnum = edit.line,
        end_lnum = edit.last_line,
        text = 'no test notices: ' .. edit.summary,
      }
    end, line.result.edits)
    bugs.show_list('Self-play: edits that no test notices', items, 'no such edit was found')
  end)
end

---@param client vim.lsp.Client
---@param argument table
local function run_test(client, argument)
  server.begin(client, 'runTest', argument, function(line)
    practice.log(line.result, line.result.problem == nil and #line.result.failing == 0)
  end)
end

---@param lines table[]
local function tell_jobs(lines)
  local text = vim.tbl_map(function(line)
    return ('%s  %-11s %5d s  %-16s %s'):format(line.job, line.state, line.seconds, line.tool, line.error or line.progress)
  end, lines)
  if #text == 0 then
    server.say('there was no job here')
  else
    documents.text('jobs', table.concat(text, '\n'))
  end
end

---@param client vim.lsp.Client
---@param given ssr_mcp.Given
local function cancel(client, given)
  server.execute(client, 'jobs', server.here(client), function(lines)
    local fitting = vim.tbl_filter(function(line)
      return line.state == 'running' and vim.startswith(line.job, given.words[1] or '')
    end, lines)
    if #fitting == 0 then
      server.say('no such job is running')
    end
    for _, line in ipairs(fitting) do
      local argument = server.here(client)
      argument.job = line.job
      server.execute(client, 'cancel', argument)
    end
  end)
end

---@param answer table
local function tell_status(answer)
  local lines = {
    ('%s: %s'):format(answer.workspace, answer.framework or 'no test framework was found'),
    ('bugs kept: %d, real: %d; in the wrong-book: %d; unnoticed edits: %d'):format(
      answer.artifacts,
      answer.valid,
      answer.wrong_book_size,
      answer.unnoticed
    ),
    ('rounds: %d, attempts: %d, solved: %d'):format(answer.rounds, answer.attempts, answer.solved),
  }
  table.insert(lines, answer.problem)
  server.say(table.concat(lines, '\n'))
end

---@class ssr_mcp.Verb
---@field run fun(client: vim.lsp.Client, given: ssr_mcp.Given)
---@field words (fun(): string[])?
---@field keys table<string, string[]>?

---@type table<string, ssr_mcp.Verb>
local verbs = {
  inject = {
    keys = { strategy = STRATEGIES, seed = {} },
    run = function(client, given)
      server.begin(client, 'inject', about(client, given, given.words[1]))
    end,
  },
  solve = {
    words = bugs.ids,
    keys = { attempts = {}, seed = {} },
    run = function(client, given)
      bugs.choose(client, given.words[1], function(artifact)
        local argument = server.here(client)
        argument.artifact = artifact
        argument.attempts = tonumber(given.keys.attempts)
        argument.seed = tonumber(given.keys.seed)
        server.begin(client, 'solve', argument)
      end)
    end,
  },
  bugs = {
    run = function(client)
      bugs.quickfix(client, server.here(client))
    end,
  },
  show = {
    words = bugs.ids,
    keys = { part = PARTS },
    run = function(client, given)
      bugs.choose(client, given.words[1], function(artifact)
        local argument = server.here(client)
        argument.artifact = artifact
        argument.part = given.keys.part
        show(client, argument)
      end)
    end,
  },
  practise = {
    words = function()
      return vim.list_extend(vim.tbl_keys(PICKS), bugs.ids())
    end,
    keys = { strategy = STRATEGIES, seed = {}, artifact = {} },
    run = function(client, given)
      local pick = PICKS[given.words[1]]
      if given.keys.artifact then
        bugs.choose(client, given.keys.artifact, function(artifact)
          local argument = server.here(client)
          argument.artifact = artifact
          practice.start(client, argument)
        end)
      elseif pick then
        local argument = server.here(client)
        argument.pick = pick
        argument.strategy = given.keys.strategy
        argument.seed = tonumber(given.keys.seed)
        practice.start(client, argument)
      else
        practice.start(client, about(client, given, given.words[1]))
      end
    end,
  },
  resume = {
    run = function(client)
      practice.resume(client, practice.meant(client))
    end,
  },
  run = {
    run = function(client, given)
      if practice.is_here() then
        practice.run(client, practice.meant(client))
      else
        run_test(client, given.words[1] and { folder = client.root_dir, file = given.words[1] } or about(client, given))
      end
    end,
  },
  check = {
    run = function(client)
      server.begin(client, 'practiceCheck', practice.meant(client))
    end,
  },
  hint = {
    run = function(client)
      practice.hint(client, practice.meant(client))
    end,
  },
  reveal = {
    run = function(client)
      practice.reveal(client, 'practiceReveal', practice.meant(client))
    end,
  },
  ['give-up'] = {
    run = function(client, given)
      if given.bang or vim.fn.confirm('Give this bug up?', '&Give up\n&Go on', 2) == 1 then
        practice.reveal(client, 'practiceGiveUp', practice.meant(client))
      end
    end,
  },
  ratings = {
    run = function(client)
      practice.ratings(client, practice.meant(client))
    end,
  },
  jobs = {
    run = function(client)
      server.execute(client, 'jobs', server.here(client), tell_jobs)
    end,
  },
  cancel = { run = cancel },
  unnoticed = {
    keys = { seed = {} },
    run = function(client, given)
      unnoticed(client, about(client, given, given.words[1]))
    end,
  },
  status = {
    run = function(client)
      server.execute(client, 'status', server.here(client), tell_status)
    end,
  },
}

--- Runs `:SsrMcp`.
---@param given { fargs: string[], bang: boolean }
function M.run(given)
  local name = given.fargs[1] or 'status'
  local verb = verbs[name]
  if not verb then
    server.say(('there is no %q; there are %s'):format(name, table.concat(M.names(), ', ')), vim.log.levels.ERROR)
    return
  end
  local words, keys = {}, {}
  for index = 2, #given.fargs do
    local key, value = given.fargs[index]:match('^(%l+)=(.*)$')
    if not key then
      table.insert(words, given.fargs[index])
    elseif verb.keys and verb.keys[key] then
      keys[key] = value
    else
      server.say(('%s takes no %s='):format(name, key), vim.log.levels.ERROR)
      return
    end
  end
  local client = server.of(0)
  if not client then
    -- Says why.
    server.execute(nil, name, {})
    return
  end
  verb.run(client, { words = words, keys = keys, bang = given.bang })
end

---@return string[]
function M.names()
  local names = vim.tbl_keys(verbs)
  table.sort(names)
  return names
end

--- Completes `:SsrMcp`.
---@param lead string
---@param line string
---@param at integer
---@return string[]
function M.complete(lead, line, at)
  local before = vim.split(vim.trim(line:sub(1, at - #lead)), '%s+')
  local offered = M.names()
  if #before > 1 then
    local verb = verbs[before[2]]
    offered = verb and verb.words and verb.words() or {}
    for key, values in vim.spairs(verb and verb.keys or {}) do
      if #values == 0 then
        table.insert(offered, key .. '=')
      end
      for _, value in ipairs(values) do
        table.insert(offered, key .. '=' .. value)
      end
    end
  end
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, offered)
end

--- Commands of actions and lenses whose answer the editor shows.
---@param run fun(client: vim.lsp.Client, argument: table)
local function here(run)
  return function(command, context)
    local client = vim.lsp.get_client_by_id(context.client_id)
    if client then
      run(client, command.arguments and command.arguments[1] or {})
    end
  end
end

---@type table<string, fun(command: lsp.Command, ctx: table)>
M.of_client = {
  ['ssrMcp.show'] = here(show),
  ['ssrMcp.missingTest'] = here(function(client, argument)
    server.execute(client, 'missingTest', argument, documents.open)
  end),
  ['ssrMcp.bugs'] = here(bugs.quickfix),
  ['ssrMcp.score'] = here(function(client, argument)
    server.execute(client, 'score', argument, function(answer)
      server.say(answer.reason)
    end)
  end),
  ['ssrMcp.unnoticed'] = here(unnoticed),
  ['ssrMcp.runTest'] = here(run_test),
  ['ssrMcp.practise'] = here(practice.start),
  ['ssrMcp.practiceShow'] = here(practice.resume),
  ['ssrMcp.practiceRun'] = here(practice.run),
  ['ssrMcp.practiceHint'] = here(practice.hint),
  ['ssrMcp.practiceReveal'] = here(function(client, argument)
    practice.reveal(client, 'practiceReveal', argument)
  end),
  ['ssrMcp.practiceGiveUp'] = here(function(client, argument)
    practice.reveal(client, 'practiceGiveUp', argument)
  end),
  ['ssrMcp.ratings'] = here(practice.ratings),
}

return M
