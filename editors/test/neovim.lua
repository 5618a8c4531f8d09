-- Drives a real Neovim with `agon lsp`: nvim --headless --clean -l is newer than some packages, so this is sourced with -S.
-- Opens a broken sheet, sees its diagnostics, applies a fix, renames a relation and jumps to a definition.
local agon = assert(os.getenv("AGON"), "AGON must be the path of the binary")
local sheet = vim.fn.tempname() .. ".kif"

local function fail(message)
  io.stderr:write("neovim: " .. message .. "\n")
  vim.cmd("cquit 1")
end

local function wait(what, condition)
  if not vim.wait(60000, condition, 20) then
    fail("timeout: " .. what)
  end
end

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
end

local function main()
  local lines = {
    "(role white)",
    "(init (cell 1 b))",
    "(<= (legal white (mark ?x))",
    "    (true (cell ?x b))",
    "    (rwo ?x))",
    "(<= (next (cell ?x white)) (does white (mark ?x)))",
    "(<= terminal (not open))",
    "(<= open (true (cell ?x b)) (row ?x))",
    "(row 1)",
    "(goal white 100)",
  }
  vim.fn.writefile(lines, sheet)
  vim.cmd("edit " .. sheet)
  local client = vim.lsp.start_client({ name = "agon", cmd = { agon, "lsp" }, root_dir = vim.fn.getcwd() })
  if not client then
    fail("the server does not start")
  end
  vim.lsp.buf_attach_client(0, client)

  -- Diagnostics.
  local function find(code)
    for _, finding in ipairs(vim.diagnostic.get(0)) do
      local found = finding.code or (finding.user_data and finding.user_data.lsp and finding.user_data.lsp.code)
      if found == code then
        return finding
      end
    end
  end
  wait("diagnostics", function() return find("undefined") ~= nil end)
  local undefined = find("undefined")
  if undefined.lnum ~= 4 or undefined.col ~= 4 then
    fail("the diagnostic is at " .. undefined.lnum .. ":" .. undefined.col)
  end

  -- A fix.
  vim.api.nvim_win_set_cursor(0, { 5, 6 })
  local params = vim.lsp.util.make_range_params()
  params.context = { diagnostics = {} }
  local answers = vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 60000)
  local action = answers and answers[client] and answers[client].result[1]
  if not action then
    fail("there is no fix")
  end
  vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
  if not text():find("    (row ?x))", 1, true) then
    fail("the fix was not applied:\n" .. text())
  end
  wait("the finding goes away", function() return find("undefined") == nil end)

  -- Rename, by the function that users call.
  vim.api.nvim_win_set_cursor(0, { 9, 2 })
  vim.lsp.buf.rename("line_of")
  wait("rename", function()
    local _, n = text():gsub("line_of", "")
    return n == 3 and not text():find("(row", 1, true)
  end)

  -- Definition, by the function that users call.
  vim.api.nvim_win_set_cursor(0, { 7, 20 })
  vim.lsp.buf.definition()
  wait("definition", function() return vim.api.nvim_win_get_cursor(0)[1] == 8 end)

  print("neovim: diagnostics, fix, rename and definition work\n")
  vim.lsp.stop_client(client)
  vim.cmd("qall!")
end

local ok, message = pcall(main)
if not ok then
  fail(tostring(message))
end
