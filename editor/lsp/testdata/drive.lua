-- What a person does in Neovim, whose language server is the command line in TILECHECK_LSP.
-- The results are written as JSON to the file in TILECHECK_OUT.
local out = {}
local ok, problem = pcall(function()
  vim.cmd('edit m.prism')
  local model = vim.api.nvim_get_current_buf()
  local client = vim.lsp.start_client({ name = 'tilecheck', cmd = { vim.env.TILECHECK_LSP, 'lsp', '--const', 'p=1/4' }, root_dir = vim.fn.getcwd() })
  assert(client, 'no client')
  vim.lsp.buf_attach_client(model, client)
  local function wait(what, condition)
    assert(vim.wait(20000, condition, 20), 'waited in vain for ' .. what)
  end
  wait('the server', function() local c = vim.lsp.get_client_by_id(client); return c and c.initialized end)
  local function found(buffer)
    local list = {}
    for _, d in ipairs(vim.diagnostic.get(buffer)) do
      table.insert(list, string.format('%d:%d: %s', d.lnum + 1, d.col + 1, d.message))
    end
    return list
  end
  local function text(buffer) return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n') end

  -- Type a mistake at the end of the last command, and see it.
  vim.api.nvim_win_set_cursor(0, { 6, 0 })
  vim.api.nvim_feedkeys('A' .. ' [] x==N -> true;' .. vim.api.nvim_replace_termcodes('<Esc>', true, false, true), 'tx', false)
  wait('a diagnostic', function() return #vim.diagnostic.get(model) > 0 end)
  out.typed = found(model)

  -- Let the quick fix put it right.
  local params = vim.lsp.util.make_given_range_params({ 6, 0 }, { 6, 80 }, model)
  params.context = { diagnostics = {} }
  local actions = vim.lsp.buf_request_sync(model, 'textDocument/codeAction', params, 10000)[client].result
  out.fix = actions[1].title
  vim.lsp.util.apply_workspace_edit(actions[1].edit, 'utf-8')
  wait('no diagnostic', function() return #vim.diagnostic.get(model) == 0 end)

  -- Ask what a name is, and where.
  local function at(line, col, method)
    vim.api.nvim_win_set_cursor(0, { line, col })
    return vim.lsp.buf_request_sync(0, method, vim.lsp.util.make_position_params(0), 10000)[client].result
  end
  out.hover = at(3, 13, 'textDocument/hover').contents.value
  out.definition = at(6, 7, 'textDocument/definition')[1].range.start

  -- Complete an expression.
  vim.api.nvim_win_set_cursor(0, { 6, 0 })
  out.completion = {}
  for _, item in ipairs(at(6, 7, 'textDocument/completion')) do table.insert(out.completion, item.label) end
  out.symbols = #at(1, 0, 'textDocument/documentSymbol')

  -- Rename a constant; the properties file that is not open is changed with it.
  vim.api.nvim_win_set_cursor(0, { 2, 10 })
  vim.lsp.buf.rename('size')
  wait('the renaming', function() return text(model):find('const int size', 1, true) end)
  out.renamed = text(model)
  local props = vim.fn.bufnr('m.props')
  out.props = props > 0 and text(props) or ''

  -- Lay out.
  vim.lsp.buf.formatting_sync(nil, 10000)
  out.formatted = text(model)

  -- Check the property by its lens, whose title is then the result.
  vim.cmd('silent! wall')
  vim.cmd('edit! m.props')
  local good = vim.api.nvim_get_current_buf()
  vim.lsp.buf_attach_client(good, client)
  local function lens(prefix)
    for _, l in ipairs(vim.lsp.codelens.get(good)) do
      if l.command and l.command.title:sub(1, #prefix) == prefix then return l.command.title end
    end
  end
  vim.lsp.codelens.refresh()
  wait('a lens', function() return lens('result') end)
  vim.ui.select = function(items, _, choose) -- a person chooses "result"
    for i, item in ipairs(items) do
      if (item.command or item.lens.command).title == 'result' then choose(item, i) return end
    end
  end
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  vim.lsp.codelens.run()
  wait('the result', function() return lens('=') end)
  out.result = lens('=')

  -- A properties file of its own, with a mistake in it.
  vim.cmd('silent! wall')
  vim.cmd('edit! bad.props')
  local bad = vim.api.nvim_get_current_buf()
  vim.api.nvim_buf_set_lines(bad, 0, -1, false, { 'Pmax=? [ F y=size ];' })
  vim.lsp.buf_attach_client(bad, client)
  wait('the diagnostic of properties', function() return #vim.diagnostic.get(bad) > 0 end)
  out.bad = found(bad)

  vim.lsp.stop_client(client)
  out.stopped = vim.wait(5000, function() return vim.lsp.get_client_by_id(client) == nil end, 20)
end)
if not ok then out.problem = tostring(problem) end
local file = io.open(vim.env.TILECHECK_OUT, 'w')
file:write(vim.json and vim.json.encode(out) or vim.fn.json_encode(out))
file:close()
vim.cmd('qall!')
