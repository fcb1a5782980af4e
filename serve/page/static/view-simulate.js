// A path through a model, step by step or at random.
import { el, clear, button, field, choice, input, number, toNumber, download, upload } from './dom.js';
import { ask } from './api.js';
import { doc } from './document.js';
import { status, attempt, untell } from './status.js';
import { Current } from './current.js';
import { boardOf, boardElement } from './board.js';
import { Plot } from './plot.js';
import { playerIcon } from './state-graph.js';
import { keep, isKept, takeKept } from './kept.js';

const shownRows = 300; // of a path, the last ones

export function create({ show: showView, make }) {
  // A path is a list of states. Each has the action and the probability or rate of the step that led to it, its labels, rewards and value, and, unless it is the
  // last one, the time that was spent in it and the rewards of the step that left it.
  let path = []; let here = null; let later = null; // the path before one went back in it
  let property = choice([['', 'no property']], '');
  const propertyField = field('Values of', property, 'grow');
  const situation = el('div', { 'aria-live': 'polite' });
  const moves = el('ul', { class: 'list', 'aria-label': 'Enabled transitions' });
  const start = input('', { class: 'mono', placeholder: 'the initial state', 'aria-label': 'Start from', title: 'Values of variables, such as s=3, d=0; the others are those of the initial state' });
  const steps = el('input', { type: 'number', min: 1, max: 10000, step: 1 }); steps.value = 10;
  const seed = el('input', { type: 'number', min: 0, step: 1 }); seed.value = 1;
  const optimal = el('input', { type: 'checkbox' });
  const optimalField = el('label', { title: 'Random steps take the choices of the optimal scheduler of the property' }, optimal, ' Optimal choices');
  const optimalPlace = el('span'); // in an MDP or a game, with a property
  const sojourn = el('input', { type: 'number', min: 0, step: 'any', placeholder: 'mean', 'aria-label': 'Time in the state' });
  const sojournField = field('Time in the state', sojourn);
  const table = el('table', { class: 'path', 'aria-label': 'Path' });
  const cut = el('p', { class: 'soft' });
  const axis = choice(['step', 'time'], 'step', () => chart());
  const axisField = field('Axis', axis);
  const sojournPlace = el('span'); const axisPlace = el('span'); // in a CTMC
  const plot = new Plot('path', { x: 'step', y: 'value' });
  const columnTicks = el('div', { class: 'row ticks', role: 'group', 'aria-label': 'Columns of the table' });
  const plotTicks = el('div', { class: 'row ticks', role: 'group', 'aria-label': 'Columns in the plot' });
  const ticked = { table: new Map(), plot: new Map() }; // by column: what the user chose

  const undo = button('Undo', attempt(() => goBack(path.length - 2)));
  const forward = button('Forward', attempt(() => look(later)));
  const element = el('div', {},
    el('div', { class: 'row' }, propertyField, field('Start from', start), button('Start', attempt(() => begin())), undo, forward,
      field('Steps', steps), field('Seed', seed), optimalPlace, sojournPlace, button('Random steps', attempt(() => random()), { class: 'main' })));
  const current = new Current(el('div', {},
    el('section', { class: 'panel' }, el('h2', {}, 'Enabled transitions'), situation, moves),
    el('section', { class: 'panel' },
      el('div', { class: 'head' }, el('h2', {}, 'Path'), el('div', { class: 'row' },
        button('Save CSV', attempt(() => save('csv', 'path.csv')), { class: 'small' }), button('Save for PRISM', attempt(() => save('prism', 'path.txt')), { class: 'small' }),
        button('Load path…', () => upload('.csv,.txt', load), { class: 'small' }))),
      el('details', {}, el('summary', {}, 'Columns'), columnTicks),
      cut, el('div', { class: 'scroll', style: 'max-height:52vh', tabindex: 0, role: 'region', 'aria-label': 'Path' }, table)),
    el('section', { class: 'panel' }, el('div', { class: 'head' }, el('h2', {}, 'Plot'), axisPlace), plotTicks, plot.element)), attempt(() => begin()), true);
  element.append(current.element);

  const say = (text) => { if (element.isConnected) status.say(text); }; // of the view that is shown only
  const asked = () => (property.value === '' ? {} : { property: Number(property.value) });
  const timed = () => here?.type === 'CTMC';
  const cell = (v, x) => (v.bool ? String(!!x) : String(x));

  keep('path', () => (path.length > 1 && !current.outdated ? { text: recorded(), start: path[0].state } : null));
  // resume shows the path that was there before the page was loaded again, or begins one.
  async function resume() {
    if (!isKept('path')) { await begin(); return; }
    await doc.diagnosed();
    const before = takeKept('path');
    if (!before) { await begin(); return; }
    const [, found] = await current.answer('Simulate', 'simulate', 'follow', { ...before, ...asked() });
    await look(found.steps);
  }

  async function begin() {
    later = null;
    if (!start.value.trim()) { await look([]); return; }
    const [, first] = await current.answer('Simulate', 'simulate', 'step', {});
    const state = stateOf(start.value, first);
    untell();
    await look([{ state }]);
  }

  // stateOf reads values of variables: "s=3, d=0", or all of them in their order.
  function stateOf(text, { vars, state }) {
    const parts = text.replace(/[()]/g, '').replace(/\s*=\s*/g, '=').split(/[,&\s]+/).filter(Boolean);
    const value = (v, x) => {
      const n = v.bool ? { true: 1, false: 0 }[x] : /^-?\d+$/.test(x) ? Number(x) : undefined;
      if (n === undefined || n < v.low || n > v.high) throw new Error(`${v.name} is ${x}, want ${v.bool ? 'true or false' : `${v.low} to ${v.high}`}.`);
      return n;
    };
    const problem = (message) => { throw Object.assign(new Error(message), { expected: true }); };
    try {
      if (parts.length === vars.length && !text.includes('=')) return vars.map((v, i) => value(v, parts[i]));
      const out = [...state];
      for (const part of parts) {
        const [name, x] = part.split('=');
        const i = vars.findIndex((v) => v.name === name);
        if (i < 0 || x === undefined) problem(`Found ${part}, want variable=value.`);
        out[i] = value(vars[i], x);
      }
      return out;
    } catch (e) { return problem(e.message); }
  }

  // look shows the end of a path, which takes the place of the one that is shown.
  async function look(next = path) {
    const last = next[next.length - 1];
    const [of, answer] = await current.answer('Simulate', 'simulate', 'step', { state: last?.state ?? null, ...asked() });
    here = answer;
    const { state, labels, player, rewards, value } = here;
    path = [...next.slice(0, -1), { action: '', ...last, state, labels, player, rewards, value, sojourn: undefined, step_rewards: undefined }];
    if (later && path.length >= later.length) later = null;
    current.done(of);
    show();
    say(`Step ${path.length - 1}: ${here.text}`);
  }

  // goBack ends the path at a step.
  async function goBack(step) {
    if (step < 0) return;
    const before = later || path;
    await look(path.slice(0, step + 1));
    later = before;
    show();
  }

  // take takes a transition.
  async function take(move, to) {
    later = null;
    const rate = toNumber(here.exit_rate);
    const left = { ...path[path.length - 1], step_rewards: move.rewards, sojourn: timed() ? (sojourn.value === '' ? 1 / rate : Number(sojourn.value)) : undefined };
    await look([...path.slice(0, -1), left, { state: to.state, action: move.action, probability: to.probability }]);
  }

  const choosing = () => property.value !== '' && ['MDP', 'SMG'].includes(here?.type);

  async function random() {
    later = null;
    const last = path[path.length - 1];
    const best = choosing() && optimal.checked;
    const [, answer] = await current.answer('Random steps', 'simulate', 'walk', { state: last.state, steps: Math.max(1, Math.min(10000, Number(steps.value) || 1)), seed: Number(seed.value) || 0, index: path.length - 1, optimal: best, ...asked() });
    const [first, ...rest] = answer.steps;
    await look([...path.slice(0, -1), { ...first, action: last.action, probability: last.probability }, ...rest]);
    say(`${rest.length} ${rest.length === 1 ? 'step' : 'steps'}, seed ${seed.value}${best ? ', optimal choices' : ''}; the path ends here: ${answer.end}.`);
  }

  const valueText = (v) => (v ? (v.boolean ? (v.lower === 1 ? '✓ true' : v.upper === 0 ? '✕ false' : '? open') : number(middle(v), 6)) : '');
  const middle = (v) => (toNumber(v.lower) === toNumber(v.upper) ? toNumber(v.lower) : (toNumber(v.lower) + toNumber(v.upper)) / 2);

  // columns are those of the path. Each has a text and, unless it cannot be plotted, a number for a step; times and totals are sums over the path.
  function columns() {
    const times = [0];
    for (const s of path.slice(0, -1)) times.push(times[times.length - 1] + (toNumber(s.sojourn) || 0));
    const plain = (n) => number(n, 6);
    const column = (id, group, of, more = {}) => ({ id, name: more.name || id, group, number: of, text: (s, i) => { const n = of(s, i); return n === undefined || Number.isNaN(n) ? '' : plain(n); }, ...more });
    const out = [column(timed() ? 'rate' : 'probability', 'step', (s) => (s.probability === undefined ? undefined : toNumber(s.probability)))];
    if (here.players) out.push(column('player', 'step', () => undefined, { text: (s) => here.players[s.player] ?? '', words: true }));
    if (timed()) out.push(column('time', 'step', (s, i) => times[i]), column('sojourn', 'step', (s) => (s.sojourn === undefined ? undefined : toNumber(s.sojourn))));
    here.vars.forEach((v, j) => out.push(column(v.name, v.module || 'global', (s) => s.state[j], { text: (s) => cell(v, s.state[j]), variable: j })));
    here.all_labels.forEach((name, j) => out.push(column(`"${name}"`, 'labels', (s) => Number(!!s.labels?.includes(j)), { text: (s) => (s.labels?.includes(j) ? '✓' : ''), off: true })));
    here.structures.forEach((name, j) => {
      const state = (s) => (s.rewards ? toNumber(s.rewards[j]) : undefined);
      const step = (s) => (s.step_rewards ? toNumber(s.step_rewards[j]) : undefined);
      let sum = 0;
      const totals = path.map((s) => { const before = sum; sum += (state(s) || 0) * (timed() ? toNumber(s.sojourn) || 0 : 1) + (step(s) || 0); return before; });
      out.push(column(`state reward ${name}`, `reward ${name}`, state, { name: 'state' }), column(`step reward ${name}`, `reward ${name}`, step, { name: 'step' }), column(`total reward ${name}`, `reward ${name}`, (s, i) => totals[i], { name: 'total' }));
    });
    if (property.value !== '') out.push(column('value', 'property', (s) => (s.value && !s.value.boolean ? middle(s.value) : undefined), { text: (s) => valueText(s.value) }));
    return out;
  }

  function show() {
    const b = boardOf(here.vars, here.state);
    clear(situation, b ? boardElement(b.cells, b.cols, { mini: true }) : null,
      el('p', {}, el('span', { class: 'mono' }, here.text), here.labels?.length ? ' Labels: ' + here.labels.map((l) => here.all_labels[l]).join(', ') + '.' : '',
        here.value ? [' Value: ', el('span', { class: 'value' }, valueText(here.value))] : null, timed() ? el('span', { class: 'soft' }, ` Exit rate ${number(here.exit_rate)}.`) : null),
      here.players && here.moves.length ? el('p', { class: 'mover' }, playerIcon(here.player), ` ${here.players[here.player]} moves.`) : null,
      button('Show in Explore', attempt(async () => { await showView('explore'); await (await make('explore')).look(here.state); }), { class: 'small' }));
    clear(optimalPlace, choosing() ? optimalField : null);
    clear(sojournPlace, timed() ? sojournField : null);
    clear(axisPlace, timed() ? axisField : null);
    clear(moves, here.moves.length ? here.moves.map(moveElement) : el('li', { class: 'warn' }, 'A deadlock: nothing can be done.'));
    undo.disabled = path.length < 2;
    forward.disabled = !later;
    const all = columns();
    const shown = all.filter((c) => ticked.table.get(c.id) ?? !c.off);
    rows(shown);
    const ticks = (box, chosen, list, initial, changed) => clear(box, list.map((c) => {
      const tick = el('input', { type: 'checkbox', checked: chosen.get(c.id) ?? initial(c), onchange: () => { chosen.set(c.id, tick.checked); changed(); } });
      return el('label', {}, tick, ' ' + c.id);
    }));
    ticks(columnTicks, ticked.table, all.filter((c) => c.variable === undefined), (c) => !c.off, () => rows(columns().filter((c) => ticked.table.get(c.id) ?? !c.off)));
    ticks(plotTicks, ticked.plot, all.filter((c) => !c.words), plotted, chart);
    chart();
  }

  const plotted = (c) => c.variable < 3 || c.id === 'value' || c.id.startsWith('total');

  function moveElement(m) {
    const unlabelled = !/^\[/.test(m.action);
    const where = m.commands.map((c) => `${c.module}, line ${c.line}`).join('; ');
    const kind = timed() ? 'rate' : 'probability';
    return el('li', { style: 'margin-bottom:8px' },
      el('strong', {}, (m.best ? '★ ' : '') + (unlabelled ? `module ${m.action}` : m.action)), ' ', el('span', { class: 'soft' }, where), m.best ? el('span', { class: 'chip' }, 'optimal') : null,
      el('div', { class: 'scroll' }, m.to.map((t) => el('div', { style: 'margin:3px 0' },
        button(change(t.state), attempt(() => take(m, t)), { class: 'small mono', 'aria-label': `${m.action} with ${kind} ${number(t.probability)} to ${t.text}` }),
        el('span', { class: 'soft' }, ` ${kind} ${number(t.probability)}${t.value ? ', then value ' + valueText(t.value) : ''}`)))),
      m.transitions ? el('p', { class: 'soft' }, `The first ${m.to.length} of ${m.transitions} transitions.`) : null);
  }

  // rows shows the path. What does not change is grey.
  function rows(shown) {
    const groups = [];
    for (const c of shown) {
      if (groups[groups.length - 1]?.name === c.group) groups[groups.length - 1].span++;
      else groups.push({ name: c.group, span: 1 });
    }
    const first = Math.max(0, path.length - shownRows);
    cut.textContent = first ? `The last ${shownRows} of ${path.length} states.` : '';
    clear(table,
      el('thead', {}, el('tr', {}, el('td', { colspan: '2' }), groups.map((g) => el('th', { scope: 'colgroup', colspan: String(g.span) }, g.name))),
        el('tr', {}, ['step', 'action'].map((t) => el('th', { scope: 'col' }, t)), shown.map((c) => el('th', { scope: 'col' }, c.name)))),
      el('tbody', {}, path.slice(first).map((s, k) => {
        const i = first + k;
        const back = attempt(() => goBack(i));
        return el('tr', { 'aria-current': i === path.length - 1 ? 'true' : null, onclick: (e) => { if (i < path.length - 1 && !e.target.closest('button')) back(); } },
          el('td', { class: 'num' }, i < path.length - 1 ? button(String(i), back, { class: 'small quiet', 'aria-label': `Go back to step ${i}` }) : String(i)), el('td', {}, s.action),
          shown.map((c) => el('td', { class: 'mono' + (c.variable !== undefined && i > 0 && path[i - 1].state[c.variable] === s.state[c.variable] ? ' same' : '') }, c.text(s, i))));
      })));
    table.rows[table.rows.length - 1].scrollIntoView({ block: 'nearest' });
  }

  function chart() {
    const all = columns();
    const time = timed() && axis.value === 'time' ? all.find((c) => c.id === 'time') : null;
    plot.x = time ? 'time' : 'step';
    plot.set(all.filter((c) => ticked.plot.get(c.id) ?? plotted(c)).map((c) => ({
      name: c.id, gaps: c.id === 'value' && !time,
      points: path.flatMap((s, i) => { const y = c.number(s, i); return y === undefined ? [] : [{ x: time ? time.number(s, i) : i, y }]; }),
    })).filter((s) => s.points.length));
  }

  // change is what a step changes, for a button.
  function change(to) {
    const out = here.vars.flatMap((v, i) => (to[i] !== here.state[i] ? [`${v.name}'=${cell(v, to[i])}`] : []));
    return out.length ? out.join(' ') : 'stays';
  }

  // recorded is the path as a file that tilecheck reads.
  function recorded() {
    const time = timed() ? columns().find((c) => c.id === 'time') : null;
    const line = (s, i) => [i ? s.action : '-', i, ...(time ? [time.number(s, i)] : []), ...here.vars.map((v, j) => cell(v, s.state[j]))].join(',');
    return ['action,step,' + (time ? 'time,' : '') + here.vars.map((v) => v.name).join(','), ...path.map(line)].join('\n') + '\n';
  }

  // save has the path checked and written as tilecheck simulate does.
  async function save(format, name) {
    const [, { table: text }] = await current.answer('Save', 'save', 'follow', { name, text: recorded(), start: path[0].state, write: format });
    download(name, text, 'text/plain');
  }

  const load = attempt(async (name, text) => {
    const [, found] = await current.answer('Load ' + name, 'simulate', 'follow', { name, text, ...asked() });
    later = null;
    await look(found.steps);
    say(`A path of ${path.length - 1} steps, each of them checked; its probability is ${found.probability}.`);
  });

  // revalue shows the values of the chosen property on the path.
  async function revalue() {
    if (property.value === '' || path.length < 2 || current.outdated) { await look(); return; }
    const [, found] = await current.answer('Values', 'simulate', 'follow', { text: recorded(), start: path[0].state, ...asked() });
    await look(path.map((s, i) => ({ ...s, value: found.steps[i].value })));
  }

  function listProperties() {
    const next = choice([['', 'no property'], ...(doc.properties || []).filter((p) => !p.error).map((p) => [String(p.index), (p.name ? p.name + ': ' : '') + p.text])], property.value, attempt(() => revalue()));
    property.replaceWith(next);
    property = next;
  }

  // values shows the values of a property along the path.
  async function values(index) {
    listProperties();
    property.value = String(index);
    await (current.outdated ? begin() : revalue());
  }

  // startFrom begins a path in a state.
  async function startFrom(state) {
    later = null;
    await look([{ state }]);
    start.value = here.vars.map((v, i) => `${v.name}=${cell(v, state[i])}`).join(', ');
  }

  doc.addEventListener('diagnosed', listProperties);
  doc.addEventListener('picked', attempt(async () => { if (element.isConnected && current.outdated) await begin(); }));
  doc.addEventListener('change', ({ detail }) => { if (detail.whole) { start.value = ''; ticked.table.clear(); ticked.plot.clear(); } });
  return { element, values, startFrom, show: attempt(async () => { listProperties(); if (current.outdated) await resume(); }) };
}
