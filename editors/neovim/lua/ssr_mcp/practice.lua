--- Rounds of practice: a tab page each, in the practice tree.
local server = require('ssr_mcp.server')
local M = {}

--- Trees that were opened here.
---@type table<string, true>
local trees = {}

--- The practice tree that a file lies in, if it was opened here.
---@param file string
---@return string?
function M.tree_of(file)
  for tree in pairs(trees) do
    if vim.fs.relpath(tree, file) then
      return tree
    end
  end
end

--- What says which round is meant: that of the tab page, else the one begun last.
---@param client vim.lsp.Client
---@return table
function M.meant(client)
  local round = vim.t.ssr_mcp_practice
  return round and { folder = round.folder, practice = round.practice } or server.here(client)
end

--- Whether this tab page shows a round.
---@return boolean
function M.is_here()
  return vim.t.ssr_mcp_practice ~= nil
end

--- Opens a round: what is broken in the quickfix list, the first of it under the cursor.
---@param folder string|nil the repository
---@param round table
function M.open(folder, round)
  trees[vim.fs.normalize(round.tree)] = true
  vim.cmd.tabnew()
  vim.cmd.tcd(vim.fn.fnameescape(round.tree))
  vim.t.ssr_mcp_practice = { practice = round.practice, folder = folder or round.tree }
  local items = {}
  for _, broken in ipairs(round.broken) do
    local file = vim.fs.joinpath(round.tree, broken.file)
    table.insert(items, { filename = file, lnum = broken.line, text = broken.text })
  end
  vim.fn.setqflist({}, ' ', { title = 'Self-play: what is broken', items = items })
  if items[1] then
    vim.cmd.edit(vim.fn.fnameescape(items[1].filename))
    local last = vim.api.nvim_buf_line_count(0)
    vim.api.nvim_win_set_cursor(0, { math.min(math.max(items[1].lnum, 1), last), 0 })
  end
end

---@param client vim.lsp.Client?
---@param argument table
function M.start(client, argument)
  server.begin(client, 'practise', argument, function(line)
    M.open(argument.folder or client.root_dir, line.result)
  end)
end

--- Opens the round that is open already.
---@param client vim.lsp.Client?
---@param argument table
function M.resume(client, argument)
  server.execute(client, 'practiceShow', argument, function(round)
    M.open(argument.folder, round)
  end)
end

---@param client vim.lsp.Client?
---@param argument table
function M.run(client, argument)
  server.begin(client, 'practiceRun', argument, function(line)
    M.log(line.result, line.result.green)
  end)
end

--- Shows the log of a run that was not green; its end is told by the server.
---@param result table
---@param green boolean
function M.log(result, green)
  if not green and result.log and result.log ~= '' then
    require('ssr_mcp.documents').text('log', result.log)
  end
end

---@param client vim.lsp.Client?
---@param argument table
function M.hint(client, argument)
  server.execute(client, 'practiceHint', argument, function(answer)
    server.say(('%s (%d hints left)'):format(answer.hint.text, answer.hints_left))
  end)
end

---@param client vim.lsp.Client?
---@param command 'practiceReveal'|'practiceGiveUp'
---@param argument table
function M.reveal(client, command, argument)
  server.execute(client, command, argument, function(answer)
    local text = { answer.explanation, '', answer.diff }
    if answer.repair and answer.repair ~= '' then
      vim.list_extend(text, { '', 'A repair:', '', answer.repair })
    end
    require('ssr_mcp.documents').text('reveal', table.concat(text, '\n'), 'diff')
  end)
end

--- Ratings of a series as a chart of bars.
---@param series { rating: number }[]
---@return string
local function chart(series)
  local bars = { '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█' }
  local low, high = math.huge, -math.huge
  for _, point in ipairs(series) do
    low, high = math.min(low, point.rating), math.max(high, point.rating)
  end
  local span = math.max(high - low, 1)
  local drawn = vim.tbl_map(function(point)
    return bars[1 + math.floor((point.rating - low) / span * (#bars - 1) + 0.5)]
  end, series)
  return ('%s  %d to %d'):format(table.concat(drawn), math.floor(low), math.floor(high))
end

---@param client vim.lsp.Client?
---@param argument table
function M.ratings(client, argument)
  server.execute(client, 'ratings', argument, function(answer)
    local lines = {
      'Your rating: ' .. answer.rating.text,
      ('Solved %d, given up %d, open %d; %d hints'):format(
        answer.solved,
        answer.given_up,
        answer.open,
        answer.hints
      ),
    }
    if #answer.series > 0 then
      vim.list_extend(lines, { '', chart(answer.series) })
    end
    if #answer.families > 0 then
      table.insert(lines, '')
    end
    for _, family in ipairs(answer.families) do
      table.insert(lines, ('%-32s solved %d, given up %d'):format(family.family, family.solved, family.given_up))
    end
    if #answer.players > 0 then
      table.insert(lines, '')
    end
    for _, player in ipairs(answer.players) do
      table.insert(
        lines,
        ('%-32s %s, solved %d of %d'):format(player.player, player.rating.text, player.solved, player.tried)
      )
    end
    require('ssr_mcp.documents').text('ratings', table.concat(lines, '\n'))
  end)
end

return M
