// The states of a model and what leads from one to another, unfolded by clicking.
import { el, svg, clear, button, field, choice, input, number, interval, toNumber, download } from './dom.js';
import { doc } from './document.js';
import { status, attempt } from './status.js';
import { Current } from './current.js';
import { layout, Canvas, badge, legendOf, curve } from './graph.js';
import { boardOf, boardElement, tileClass } from './board.js';
import { verdictText } from './property-table.js';

const cell = 30; // of a board in the graph, in pixels
const key = (state) => state.join();

export function create({ show: showView, make }) {
  const canvas = new Canvas('State graph: arrow keys move it, plus and minus zoom, 0 shows all of it');
  const legend = el('div');
  const details = el('div', { 'aria-live': 'polite' });
  const expr = input('', { class: 'mono wide', placeholder: 's=7 & d=6, or "label"' });
  const found = el('div', { class: 'row' });
  let property = choice([['', 'no property']], '', () => refresh());
  const propertyField = field('Values of', property, 'grow');
  let open = []; let shown = []; let chosen = null; let path = new Set(); let steps = new Set(); let graph = null;

  const search = el('form', { class: 'row', onsubmit: (e) => { e.preventDefault(); find(); } }, field('Show a state with', expr, 'grow'), el('button', { type: 'submit' }, 'Find'));
  const element = el('div', {},
    el('div', { class: 'row' }, propertyField,
      button('Start again', () => again()),
      button('Unfold all', attempt(async () => { open = graph.nodes.map((n) => n.state).slice(0, 300); await refresh(); })),
      button('Path to the goal', attempt(() => likeliest(false))), button('Path to failure', attempt(() => likeliest(true))),
      button('Fit', () => canvas.fit()), button('SVG', () => download('graph.svg', serialized(), 'image/svg+xml'))),
    search);
  const current = new Current(el('div', {}, found, el('div', { class: 'two' }, el('div', {}, canvas.element, legend), el('section', { class: 'panel' }, details))), () => again(), true);
  element.append(current.element);

  const again = () => { reset(); return refresh(); };

  function reset() { open = []; shown = []; chosen = null; path = new Set(); steps = new Set(); clear(found); }

  function serialized() {
    const copy = canvas.element.cloneNode(true);
    const style = getComputedStyle(document.documentElement);
    const all = [...document.styleSheets[0].cssRules].filter((r) => r.selectorText?.startsWith('.graph')).map((r) => r.cssText).join('\n');
    const text = new XMLSerializer().serializeToString(copy).replace('>', `><style>${all}</style>`);
    return text.replace(/var\((--[a-z0-9-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
  }

  const asked = () => (property.value === '' ? {} : { property: Number(property.value) });

  const refresh = attempt(async () => {
    const [of, answer] = await current.answer('Explore', 'explore', 'graph', { open, shown, ...asked() });
    graph = answer;
    if (!open.length && !shown.length) open = graph.nodes.filter((n) => n.open).map((n) => n.state);
    await draw();
    current.done(of);
    status.say(`${graph.nodes.length} state${graph.nodes.length === 1 ? '' : 's'} shown${graph.states ? ` of ${graph.states.toLocaleString('en')}` : ''}${graph.more ? ': more than 300 are not drawn' : ''}.`);
  });

  const find = attempt(async () => {
    const [, { states, count, of }] = await current.answer('Find', 'explore', 'find', { expr: expr.value });
    clear(found, el('span', {}, `${count.toLocaleString('en')} of ${of.toLocaleString('en')} states.`),
      states.slice(0, 12).map((s) => button('(' + s.join(',') + ')', attempt(() => look(s)), { class: 'small mono' })));
    if (states.length) await look(states[0]);
  });

  async function look(state) {
    open = [state];
    shown = [];
    path = new Set();
    steps = new Set();
    chosen = key(state);
    await refresh();
  }

  async function likeliest(miss) {
    if (property.value === '') { status.error({ message: 'choose a property with P first' }); return; }
    const [, answer] = await current.answer(miss ? 'Likeliest path to failure' : 'Likeliest path to the goal', 'explore', 'path', { ...asked(), miss });
    path = new Set(answer.states.map(key));
    steps = new Set(answer.states.slice(1).map((s, i) => key(answer.states[i]) + '>' + key(s)));
    open = [...new Map(answer.states.map((s) => [key(s), s])).values()].slice(0, 100);
    shown = [];
    chosen = key(answer.states[0]);
    await refresh();
    status.say(`The likeliest path ${miss ? 'to failure' : 'to the goal'} has ${answer.states.length - 1} steps and probability ${answer.fraction ? answer.fraction + ' = ' : ''}${number(answer.probability)}.`);
  }

  // why shows the paths that explain the value of a property, the likeliest one marked.
  async function why(index) {
    listProperties();
    property.value = String(index);
    const [, answer] = await current.answer('Why', 'explore', 'why', { property: index });
    const [first] = answer.paths;
    path = new Set(first.states.map(key));
    steps = new Set(first.states.slice(1).map((s, i) => key(first.states[i]) + '>' + key(s)));
    open = [...new Map(answer.paths.flatMap((p) => p.states).map((s) => [key(s), s])).values()].slice(0, 100);
    shown = [];
    chosen = key(first.states[0]);
    await refresh();
    const how = answer.holds ? 'satisfying' : 'violating';
    const wanted = answer.wanted ? ` (wanted: ${answer.wanted})` : '';
    const likely = `${first.states.length - 1} steps and probability ${first.fraction || number(toNumber(first.probability), 4)}`;
    clear(found, el('p', { class: 'why' }, el('code', {}, doc.properties[index]?.text || ''), ` is ${verdictText(answer.verdict)}. `,
      answer.count > 1 ? `${answer.count} paths ${how} the formula have probability ${number(toNumber(answer.probability), 4)}${wanted}. The likeliest, the dashed thick line, has ${likely}.`
        : `The likeliest path ${how} the formula, the dashed thick line, has ${likely}${wanted}.`));
  }

  // lines are what is written on a state.
  function lines(n) {
    const all = graph.vars.map((v, i) => `${v.name}=${v.bool ? (n.state[i] ? 'true' : 'false') : n.state[i]}`);
    const first = graph.nodes[0].state;
    const drawn = boardOf(graph.vars, n.state);
    // Variables that are the same everywhere say nothing, and those of a board are drawn.
    const told = all.filter((_, i) => !(drawn && /^v_\d+$/.test(graph.vars[i].name)) && (graph.vars.length <= 4 || graph.nodes.some((m) => m.state[i] !== first[i])));
    const out = [];
    for (const t of told) {
      const last = out[out.length - 1];
      if (last !== undefined && (last + ' ' + t).length <= 22) out[out.length - 1] = last + ' ' + t;
      else out.push(t);
    }
    if (out.length > 4) out.splice(4, out.length, '…');
    return out.length || drawn ? out : ['state'];
  }

  const valueText = (v, digits = 5) => (v.boolean ? (v.lower === 1 ? '✓ true' : v.upper === 0 ? '✕ false' : '? open') : number(toNumber(v.lower) === toNumber(v.upper) ? v.lower : (toNumber(v.lower) + toNumber(v.upper)) / 2, digits));

  async function draw() {
    const nodes = []; const edges = [];
    const texts = graph.nodes.map(lines);
    graph.nodes.forEach((n, i) => {
      const b = boardOf(graph.vars, n.state);
      const letters = Math.max(0, ...texts[i].map((t) => t.length), n.value ? valueText(n.value).length + 2 : 0);
      nodes.push({
        width: Math.max(58, 7.4 * letters + 14, b ? b.cols * cell + 14 : 0),
        height: 12 + 15 * texts[i].length + (b ? b.cells.length / b.cols * cell + 4 : 0) + (n.value ? 22 : 0) + (n.labels?.length ? 14 : 0),
      });
    });
    const chain = ['DTMC', 'CTMC', 'IDTMC'].includes(graph.type);
    for (const c of graph.choices) {
      const to = c.to.filter((t) => t.to >= 0);
      const name = /^\[.*\]$/.test(c.action) ? c.action : '';
      if (to.length === 1 && c.to.length === 1) { edges.push({ from: c.from, to: to[0].to, text: [name, chain && toNumber(to[0].probability) !== 1 ? number(to[0].probability, 4) : ''].filter(Boolean).join(' '), best: c.best, a: c.from, b: to[0].to }); continue; }
      let from = c.from;
      if (!chain) { nodes.push({ width: 8, height: 8, round: true, best: c.best }); from = nodes.length - 1; edges.push({ from: c.from, to: from, text: name, best: c.best, a: c.from, targets: to.map((t) => t.to) }); }
      for (const t of to) edges.push({ from, to: t.to, text: (chain && name ? name + ' ' : '') + number(t.probability, 4), best: c.best, a: c.from, b: t.to });
    }
    const placed = await layout(nodes, edges);
    const onPath = (e) => (e.targets || [e.b]).some((b) => steps.has(key(graph.nodes[e.a].state) + '>' + key(graph.nodes[b].state)));
    const parts = [];
    edges.forEach((e, i) => {
      const p = placed.edges[i];
      if (!p) return;
      const cls = onPath(e) ? 'path' : e.best ? 'best' : '';
      parts.push(...curve(p.points, cls));
      if (p.text) parts.push(svg('text', { class: 'edgetext', x: p.text[0], y: p.text[1] + 4, 'text-anchor': 'middle' }, e.text + (e.best && e.a !== undefined && !e.text.startsWith('0') && !e.text.startsWith('1') ? ' ★' : '')));
    });
    nodes.forEach((n, i) => {
      const at = placed.nodes[i];
      if (n.round) { parts.push(svg('circle', { cx: at.x, cy: at.y, r: 4, class: 'tip ' + (n.best ? 'best' : '') })); return; }
      parts.push(nodeElement(graph.nodes[i], texts[i], n, at));
    });
    const at = Math.max(0, graph.nodes.findIndex((n) => key(n.state) === chosen));
    canvas.draw(placed.width, placed.height, parts, placed.nodes[at]);
    clear(legend, legendOf(graph.labels), el('p', { class: 'soft' }, 'Click a state, or press Enter on it, to unfold it. A double frame is an initial state, a dashed one has not been unfolded, ★ is the best choice, a dashed thick line the likeliest path.'));
    describe();
    if (focus) canvas.element.querySelector(`[data-key="${focus}"]`)?.focus({ preventScroll: true });
    focus = null;
  }

  let focus = null;
  function nodeElement(n, text, size, at) {
    const { width: w, height: h } = size;
    const x = -w / 2; const y = -h / 2;
    const name = `State ${n.text}${n.value ? `, value ${valueText(n.value)}` : ''}${n.labels?.length ? ', ' + n.labels.map((l) => graph.labels[l]).join(', ') : ''}${n.initial ? ', initial' : ''}${n.deadlock ? ', deadlock' : ''}`;
    const g = svg('g', {
      class: `node${n.open ? ' open' : ''}${chosen === key(n.state) ? ' chosen' : ''}${path.has(key(n.state)) ? ' path' : ''}`, transform: `translate(${at.x} ${at.y})`, tabindex: 0, role: 'button', 'aria-label': name, 'data-key': key(n.state),
    }, svg('rect', { class: 'box', x, y, width: w, height: h, rx: 7, 'stroke-dasharray': n.open ? null : '4 3' }));
    if (n.initial) g.append(svg('rect', { x: x + 3, y: y + 3, width: w - 6, height: h - 6, rx: 5, style: 'fill:none' }));
    const b = boardOf(graph.vars, n.state);
    const top = y + (b ? b.cells.length / b.cols * cell + 4 : 0);
    b?.cells.forEach((v, i) => {
      const [left, up] = [(i % b.cols - b.cols / 2) * cell, y + 7 + Math.floor(i / b.cols) * cell];
      g.append(svg('rect', { class: 'cell ' + tileClass(v), x: left + 1, y: up + 1, width: cell - 2, height: cell - 2, rx: 3 }));
      if (v) g.append(svg('text', { class: 'cell ' + tileClass(v), x: left + cell / 2, y: up + cell / 2 + 4, 'text-anchor': 'middle' }, String(v)));
    });
    text.forEach((t, i) => g.append(svg('text', { x: 0, y: top + 18 + 15 * i, 'text-anchor': 'middle' }, t)));
    let below = top + 16 + 15 * text.length;
    if (n.value) {
      g.append(svg('text', { x: 0, y: below + 5, 'text-anchor': 'middle', 'font-weight': 700 }, valueText(n.value)));
      const v = toNumber(n.value.lower);
      if (!n.value.boolean && v >= 0 && toNumber(n.value.upper) <= 1) g.append(svg('rect', { class: 'bar', x: x + 8, y: below + 9, width: w - 16, height: 4, style: 'stroke:none;fill:var(--accent-back)' }), svg('rect', { x: x + 8, y: below + 9, width: (w - 16) * v, height: 4, style: 'stroke:none;fill:var(--accent)' }));
      below += 22;
    }
    (n.labels || []).forEach((l, i) => { const b = badge(l, 5); b.setAttribute('transform', `translate(${x + 12 + 16 * i} ${below + 3})`); g.append(b); });
    const act = attempt(async () => {
      chosen = key(n.state);
      if (!n.open) { open.push(n.state); focus = chosen; await refresh(); } else { focus = chosen; await draw(); }
    });
    g.addEventListener('click', act);
    g.addEventListener('keydown', (e) => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); e.stopPropagation(); act(); } });
    return g;
  }

  function describe() {
    const n = graph.nodes.find((m) => key(m.state) === chosen) || graph.nodes[0];
    if (!n) return;
    const i = graph.nodes.indexOf(n);
    const cells = boardOf(graph.vars, n.state);
    clear(details, el('div', { class: 'head' }, el('h2', {}, 'State'), button('Simulate from here', attempt(async () => { await showView('simulate'); await (await make('simulate')).startFrom(n.state); }), { class: 'small' })),
      cells ? boardElement(cells.cells, cells.cols, { mini: true }) : null,
      el('div', { class: 'scroll' }, el('table', { 'aria-label': 'Variables' }, graph.vars.map((v, j) => el('tr', {}, el('th', { scope: 'row' }, v.name), el('td', { class: 'mono' }, v.bool ? String(!!n.state[j]) : String(n.state[j])))))),
      n.labels?.length ? el('p', {}, 'Labels: ' + n.labels.map((l) => graph.labels[l]).join(', ')) : null,
      n.value ? el('p', {}, 'Value: ', el('span', { class: 'value' }, valueText(n.value, 10)), n.value.boolean ? null : el('span', { class: 'soft' }, ` in ${interval(n.value.lower, n.value.upper)}`)) : null,
      n.deadlock ? el('p', { class: 'warn' }, 'A deadlock: it stays here.') : null,
      n.open ? el('ul', { class: 'list' }, graph.choices.filter((c) => c.from === i).map((c) => el('li', {}, el('strong', {}, (c.best ? '★ ' : '') + (c.action || 'step')), ' ', c.to.map((t) => `${number(t.probability, 6)}: ${t.to >= 0 ? graph.nodes[t.to].text : '…'}`).join(', ')))) : el('p', { class: 'soft' }, 'Not unfolded yet.'));
  }

  function listProperties() {
    const value = property.value;
    const next = choice([['', 'no property'], ...(doc.properties || []).filter((p) => !p.error).map((p) => [String(p.index), (p.name ? p.name + ': ' : '') + p.text])], value, () => refresh());
    property.replaceWith(next);
    property = next;
  }
  doc.addEventListener('diagnosed', listProperties);
  doc.addEventListener('picked', () => { if (element.isConnected && current.outdated) again(); });
  return { element, why, look, show() { listProperties(); if (current.outdated) again(); } };
}
