--- What a person's configuration calls. Bugs, ratings and repairs are the server's: nothing here knows of them.
local M = {}

--- What the server is doing now, for a status line: `%{%v:lua.require'ssr_mcp'.status()%}`. Empty where it is idle.
---@return string
function M.status()
  return require('ssr_mcp.notices').status()
end

return M
