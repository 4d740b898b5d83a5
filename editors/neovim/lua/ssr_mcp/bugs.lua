--- Bugs as the server lists them: the quickfix list, and which one is meant.
local server = require('ssr_mcp.server')
local M = {}

--- The last list of each client, for completion.
---@type table<integer, table[]>
local listed = {}

---@param id string
---@return string
function M.short(id)
  return id:sub(1, 12)
end

---@param client vim.lsp.Client
---@param argument table
---@param done fun(answer: { folder: string, bugs: table[] })
local function ask(client, argument, done)
  server.execute(client, 'bugs', argument, function(answer)
    if not argument.artifacts then
      listed[client.id] = answer.bugs
    end
    done(answer)
  end)
end

--- Keeps what completion offers up to date.
---@param client vim.lsp.Client
function M.refresh(client)
  if client.root_dir then
    ask(client, { folder = client.root_dir }, function() end)
  end
end

--- The ids that completion offers.
---@return string[]
function M.ids()
  local client = server.of(0)
  return vim.tbl_map(function(bug)
    return M.short(bug.artifact)
  end, client and listed[client.id] or {})
end

---@param bug table
---@return string
local function said(bug)
  local tests = #bug.failing == 1 and '1 test notices' or #bug.failing .. ' tests notice'
  return ('bug %s (%s): %s, solved %d of %d'):format(
    M.short(bug.artifact),
    bug.strategy,
    tests,
    bug.solved,
    bug.attempts
  )
end

--- Fills the quickfix list and opens it.
---@param client vim.lsp.Client
---@param argument table
function M.quickfix(client, argument)
  ask(client, argument, function(answer)
    local items = {}
    for _, bug in ipairs(answer.bugs) do
      local places = bug.places or vim.tbl_map(function(file)
        return { file = file, line = 1 }
      end, bug.files)
      for _, place in ipairs(places) do
        table.insert(items, {
          filename = vim.fs.joinpath(answer.folder, place.file),
          lnum = place.line,
          text = said(bug),
          user_data = { artifact = bug.artifact },
        })
      end
    end
    M.show_list('Self-play: bugs', items, 'no bug is kept of ' .. answer.folder)
  end)
end

---@param title string
---@param items table[]
---@param none string
function M.show_list(title, items, none)
  vim.fn.setqflist({}, ' ', { title = title, items = items })
  if #items == 0 then
    server.say(none)
  else
    vim.cmd('botright copen')
  end
end

--- The whole id of the bug that is meant: by its beginning, else the only one, else the person chooses.
---@param client vim.lsp.Client?
---@param given string?
---@param done fun(artifact: string)
function M.choose(client, given, done)
  ask(client, server.here(client), function(answer)
    local fitting = vim.tbl_filter(function(bug)
      return not given or vim.startswith(bug.artifact, given)
    end, answer.bugs)
    if #fitting == 1 then
      done(fitting[1].artifact)
    elseif #fitting == 0 then
      server.say(given and 'no bug begins with ' .. given or 'no bug is kept here', vim.log.levels.ERROR)
    else
      vim.ui.select(fitting, { prompt = 'Which bug?', format_item = said }, function(bug)
        if bug then
          done(bug.artifact)
        end
      end)
    end
  end)
end

return M
