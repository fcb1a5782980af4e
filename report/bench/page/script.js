'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const { tools, outcomes } = data;
  const byId = id => document.getElementById(id);
  const solved = cell => cell && (cell.outcome === 'right' || cell.outcome === 'unchecked');
  const tone = outcome => outcome === 'right' ? 'good' : outcome === 'wrong' || outcome === 'bound violated' || outcome === 'error' ? 'bad' : 'open';
  // A row has a case, and a cell for each tool, or null.
  const rows = data.cases.map((name, i) => ({ name, words: name.toLowerCase(), cells: data.cells[i].map(c => c && { outcome: outcomes[c[0]], cpu: c[1], wall: c[2], memory: c[3], reason: c[4], disturbed: c[5] }) }));
  const measure = () => byId('measure').value;
  const measureName = () => byId('measure').selectedOptions[0].textContent;
  const value = cell => cell[measure()];
  const text = number => number === undefined ? '' : number >= 100 ? number.toFixed(0) : number >= 1 ? number.toFixed(2) : number.toPrecision(3);
  const tables = {}; // what each section exports: a list of rows of texts

  const node = (name, attributes, ...children) => {
    const out = document.createElement(name);
    for (const [key, val] of Object.entries(attributes || {})) out.setAttribute(key, val);
    out.append(...children);
    return out;
  };
  const drawn = (svg, name, attributes, content) => {
    const out = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, val] of Object.entries(attributes)) out.setAttribute(key, val);
    if (content !== undefined) out.textContent = content;
    svg.append(out);
    return out;
  };

  const fill = (table, head, body, sort, onSort) => {
    const headRow = node('tr');
    head.forEach((name, i) => {
      const cell = node('th', { scope: 'col' }, name);
      if (sort && sort.column === i) cell.setAttribute('aria-sort', sort.down ? 'descending' : 'ascending');
      if (onSort) { cell.tabIndex = 0; cell.onclick = () => onSort(i); cell.onkeydown = e => { if (e.key === 'Enter') onSort(i); }; }
      headRow.append(cell);
    });
    const tbody = node('tbody');
    for (const cells of body) {
      const row = node('tr');
      for (const cell of cells) {
        const td = node('td', cell.class ? { class: cell.class } : {}, cell.text);
        if (cell.title) td.title = cell.title;
        row.append(td);
      }
      tbody.append(row);
    }
    table.replaceChildren(node('thead', {}, headRow), tbody);
  };
  const plain = (head, body) => [head, ...body.map(row => row.map(cell => cell.text))];

  const describe = cell => {
    if (!cell) return { text: '' };
    const mark = solved(cell) ? (cell.outcome === 'right' ? '' : ' (' + cell.outcome + ')') : ' ' + cell.outcome;
    return { text: (solved(cell) ? text(value(cell)) : '') + mark, class: tone(cell.outcome), title: [cell.outcome, cell.reason, cell.disturbed ? cell.disturbed + ' runs disturbed' : ''].filter(Boolean).join('; ') };
  };

  const count = (cells, outcome) => {
    const n = cells.filter(c => c && c.outcome === outcome).length;
    return { text: String(n), class: n ? tone(outcome) : '' };
  };
  const scoreboard = () => {
    const head = ['tool', ...outcomes.slice().reverse(), 'solved', 'best', 'sum, ' + measureName()];
    const best = rows.map(row => Math.min(...row.cells.map(cell => solved(cell) ? value(cell) : Infinity)));
    const body = tools.map((tool, t) => {
      const cells = rows.map(row => row.cells[t]);
      const good = cells.filter(solved);
      return [{ text: tool }, ...outcomes.slice().reverse().map(o => count(cells, o)),
        { text: String(good.length) }, { text: String(cells.filter((c, i) => solved(c) && value(c) === best[i]).length) }, { text: text(good.reduce((sum, c) => sum + value(c), 0)) }];
    });
    tables.scores = plain(head, body);
    fill(byId('scores'), head, body);
  };

  // Axes: linear or logarithmic, with ticks.
  const box = { left: 58, right: 410, top: 10, bottom: 360 };
  const scale = (low, high, from, to, log) => {
    const f = log ? Math.log10 : x => x;
    return x => from + (f(x) - f(low)) / ((f(high) - f(low)) || 1) * (to - from);
  };
  const decades = (low, high) => {
    const out = [];
    for (let e = Math.ceil(Math.log10(low)); e <= Math.floor(Math.log10(high)); e++) out.push(10 ** e);
    return out;
  };
  const range = () => {
    let low = Infinity, high = 0;
    for (const row of rows) for (const cell of row.cells) if (solved(cell) && value(cell) > 0) { low = Math.min(low, value(cell)); high = Math.max(high, value(cell)); }
    return high ? [low / 1.3, high * 1.3] : [0.1, 10];
  };
  const axes = (svg, x, y, xTicks, yTicks, xName, yName) => {
    for (const at of xTicks) { drawn(svg, 'line', { class: 'grid', x1: x(at), x2: x(at), y1: box.top, y2: box.bottom }); drawn(svg, 'text', { x: x(at), y: box.bottom + 14, 'text-anchor': 'middle' }, String(+at.toPrecision(3))); }
    for (const at of yTicks) { drawn(svg, 'line', { class: 'grid', x1: box.left, x2: box.right, y1: y(at), y2: y(at) }); drawn(svg, 'text', { x: box.left - 5, y: y(at) + 4, 'text-anchor': 'end' }, String(+at.toPrecision(3))); }
    drawn(svg, 'rect', { class: 'axis', x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top, fill: 'none' });
    drawn(svg, 'text', { x: (box.left + box.right) / 2, y: box.bottom + 32, 'text-anchor': 'middle' }, xName);
    drawn(svg, 'text', { x: 12, y: (box.top + box.bottom) / 2, 'text-anchor': 'middle', transform: `rotate(-90 12 ${(box.top + box.bottom) / 2})` }, yName);
  };

  const quantiles = () => {
    const svg = byId('quantiles');
    svg.replaceChildren();
    const [low, high] = range();
    const x = scale(0, rows.length, box.left, box.right), y = scale(low, high, box.bottom, box.top, true);
    const step = Math.max(1, 10 ** Math.floor(Math.log10(rows.length)) / 2);
    axes(svg, x, y, Array.from({ length: Math.floor(rows.length / step) + 1 }, (_, i) => i * step), decades(low, high), 'solved cases', measureName());
    tables.quantiles = [['tool', 'solved', measureName()]];
    tools.forEach((tool, t) => {
      const values = rows.map(row => row.cells[t]).filter(solved).map(value).filter(v => v > 0).sort((a, b) => a - b);
      values.forEach((v, i) => tables.quantiles.push([tool, String(i + 1), String(v)]));
      let path = '';
      values.forEach((v, i) => { path += `${i ? 'H' + x(i).toFixed(1) + 'V' : 'M' + x(0).toFixed(1) + ' '}${y(v).toFixed(1)}H${x(i + 1).toFixed(1)}`; });
      const colour = `var(--c${t % 8})`, dash = t >= 8 ? '4 3' : '';
      drawn(svg, 'path', { d: path || 'M0 0', fill: 'none', stroke: colour, 'stroke-width': 1.8, 'stroke-dasharray': dash });
      drawn(svg, 'line', { x1: 420, x2: 438, y1: 20 + 17 * t, y2: 20 + 17 * t, stroke: colour, 'stroke-width': 2.5, 'stroke-dasharray': dash });
      drawn(svg, 'text', { x: 443, y: 24 + 17 * t }, tool.length > 19 ? tool.slice(0, 4) + '…' + tool.slice(-11) : tool);
    });
  };

  const chosen = () => [Number(byId('first').value), Number(byId('second').value)];
  const scatter = () => {
    const svg = byId('scatter');
    svg.replaceChildren();
    const [a, b] = chosen(), [low, high] = range();
    const x = scale(low, high, box.left, box.right - 18, true), y = scale(low, high, box.bottom, box.top + 18, true);
    axes(svg, x, y, decades(low, high), decades(low, high), tools[a] + ', ' + measureName(), tools[b]);
    for (const [factor, name] of [[1, 'equal'], [10, ''], [0.1, '']]) {
      const from = Math.max(low, low / factor), to = Math.min(high, high / factor);
      if (from < to) drawn(svg, 'line', { class: factor === 1 ? 'axis' : 'grid', x1: x(from), y1: y(from * factor), x2: x(to), y2: y(to * factor), 'stroke-dasharray': name ? '' : '4 3' });
    }
    tables.scatter = [['case', tools[a], tools[b]]];
    for (const row of rows) {
      const [p, q] = [row.cells[a], row.cells[b]];
      if (!solved(p) && !solved(q)) continue;
      const point = drawn(svg, 'circle', { cx: solved(p) ? x(Math.max(low, value(p))) : box.right - 6, cy: solved(q) ? y(Math.max(low, value(q))) : box.top + 6, r: 2.6, fill: 'var(--c0)', 'fill-opacity': 0.55 });
      drawn(point, 'title', {}, `${row.name}: ${describe(p).text || 'no run'}, ${describe(q).text || 'no run'}`);
      tables.scatter.push([row.name, describe(p).text, describe(q).text]);
    }
  };

  const differences = () => {
    const [a, b] = chosen();
    const ratio = row => solved(row.cells[a]) && solved(row.cells[b]) && value(row.cells[a]) > 0 ? value(row.cells[b]) / value(row.cells[a]) : NaN;
    const differs = row => row.cells[a] && row.cells[b] && (row.cells[a].outcome !== row.cells[b].outcome || ratio(row) >= 2 || ratio(row) <= 0.5);
    const head = ['case', tools[a], tools[b], 'ratio'];
    const all = rows.filter(differs).sort((p, q) => Math.abs(Math.log(ratio(q)) || 99) - Math.abs(Math.log(ratio(p)) || 99));
    const cells = row => [{ text: row.name, title: row.name }, describe(row.cells[a]), describe(row.cells[b]), { text: ratio(row) ? text(ratio(row)) : '' }];
    tables.differences = plain(head, all.map(cells));
    fill(byId('differences'), head, all.map(cells));
  };

  const sort = { column: -1, down: false };
  const key = (row, column) => column === 0 ? row.name : solved(row.cells[column - 1]) ? value(row.cells[column - 1]) : Infinity;
  const cases = () => {
    const words = byId('filter').value.toLowerCase().split(/\s+/).filter(Boolean), outcome = byId('outcome').value;
    const shown = rows.filter(row => words.every(word => row.words.includes(word)) && (!outcome || row.cells.some(cell => cell && cell.outcome === outcome)));
    if (sort.column >= 0) {
      shown.sort((p, q) => { const [u, v] = [key(p, sort.column), key(q, sort.column)]; return (u < v ? -1 : u > v ? 1 : 0) * (sort.down ? -1 : 1); });
    }
    const head = ['case', ...tools];
    const body = shown.map(row => [{ text: row.name, title: row.name }, ...row.cells.map(describe)]);
    tables.cases = plain(head, body);
    byId('shown').textContent = `${shown.length} of ${rows.length} cases`;
    fill(byId('cases'), head, body, sort, column => { sort.down = sort.column === column && !sort.down; sort.column = column; cases(); });
  };

  const csv = table => table.map(row => row.map(cell => /[",\n\r]/.test(cell) ? '"' + cell.replaceAll('"', '""') + '"' : cell).join(',')).join('\n') + '\n';
  const escaped = { '\\': '\\textbackslash{}', '~': '\\textasciitilde{}', '^': '\\textasciicircum{}', '<': '\\textless{}', '>': '\\textgreater{}' };
  const latex = table => {
    const line = row => row.map(cell => cell.replace(/[\\~^<>&%$#_{}]/g, c => escaped[c] || '\\' + c)).join(' & ') + ' \\\\';
    return `\\begin{tabular}{l${'r'.repeat(table[0].length - 1)}}\n\\hline\n${line(table[0])}\n\\hline\n${table.slice(1).map(line).join('\n')}\n\\hline\n\\end{tabular}\n`;
  };
  const save = (name, content) => {
    const link = node('a', { href: URL.createObjectURL(new Blob([content], { type: 'text/plain' })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  for (const place of document.querySelectorAll('.exports')) {
    for (const [name, ending, write] of [['CSV', 'csv', csv], ['LaTeX', 'tex', latex]]) {
      const button = node('button', { type: 'button' }, name);
      button.onclick = () => save(place.dataset.of + '.' + ending, write(tables[place.dataset.of]));
      place.append(button);
    }
  }

  tools.forEach((tool, i) => { for (const id of ['first', 'second']) byId(id).append(node('option', { value: i }, tool)); });
  byId('second').value = String(Math.min(1, tools.length - 1));
  for (const outcome of outcomes) byId('outcome').append(node('option', { value: outcome }, outcome));
  const compare = () => { scatter(); differences(); };
  const all = () => { scoreboard(); quantiles(); compare(); cases(); };
  byId('measure').onchange = all;
  byId('first').onchange = byId('second').onchange = compare;
  byId('filter').oninput = byId('outcome').onchange = cases;
  byId('choices').onsubmit = e => e.preventDefault();
  const start = performance.now();
  all();
  document.body.dataset.drawn = (performance.now() - start).toFixed(0); // milliseconds
})();
