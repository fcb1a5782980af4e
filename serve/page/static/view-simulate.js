// A path through a model, step by step or at random.
import { el, clear, button, field, choice, input, number, toNumber, download, upload } from './dom.js';
import { ask } from './api.js';
import { doc } from './document.js';
import { status, work, attempt } from './status.js';
import { Current } from './current.js';
import { boardOf, boardElement } from './board.js';
import { Plot } from './plot.js';

export function create() {
  let path = []; let here = null; let property;
  const state = el('div', { 'aria-live': 'polite' });
  const moves = el('ul', { class: 'list', 'aria-label': 'Enabled transitions' });
  const rows = el('tbody');
  const head = el('thead');
  const seed = el('input', { type: 'number', min: 0, step: 1 }); seed.value = 1;
  const steps = el('input', { type: 'number', min: 1, max: 10000, step: 1 }); steps.value = 10;
  property = choice([['', 'no property']], '');
  const propertyField = field('Values of', property, 'grow');
  const plot = new Plot('path', { x: 'step', y: 'value' });
  const variables = el('div', { class: 'row', role: 'group', 'aria-label': 'Variables in the plot' });
  let plotted = new Set();

  const undo = button('Undo', attempt(async () => { if (path.length > 1) await look(path.slice(0, -1)); }));
  const element = el('div', {},
    el('div', { class: 'row' }, propertyField, undo, button('Start again', attempt(() => begin())),
      field('Steps', steps), field('Seed', seed), button('Random steps', attempt(() => random()), { class: 'main' }),
      button('Save CSV', () => download('path.csv', csv(), 'text/csv')), button('Load CSV…', () => upload('.csv,.txt', load))));
  const current = new Current(el('div', {},
    el('div', { class: 'two' },
      el('section', { class: 'panel' }, el('h2', {}, 'Enabled transitions'), state, moves),
      el('section', { class: 'panel' }, el('h2', {}, 'Path'), el('div', { class: 'scroll', style: 'max-height:44vh', tabindex: 0, role: 'region', 'aria-label': 'Path' }, el('table', { 'aria-label': 'Path' }, head, rows)))),
    el('section', { class: 'panel' }, el('h2', {}, 'Plot'), variables, plot.element)), attempt(() => begin()), true);
  element.append(current.element);

  const asked = () => (property.value === '' ? {} : { property: Number(property.value) });
  const begin = () => look([]);

  // look shows the end of a path, which takes the place of the one that is shown.
  async function look(next = path) {
    const last = next[next.length - 1];
    const [of, answer] = await current.answer('Simulate', 'simulate', 'step', { state: last?.state ?? null, ...asked() });
    here = answer;
    path = next;
    current.done(of);
    if (!last) path = [{ state: here.state, action: '', rewards: here.rewards }];
    else { last.rewards = here.rewards; last.value = here.value; }
    path[path.length - 1].value = here.value;
    show();
    status.say(`Step ${path.length - 1}: ${here.text}`);
  }

  const valueText = (v) => (v ? (v.boolean ? (v.lo === 1 ? '✓ true' : v.hi === 0 ? '✕ false' : '? open') : number(toNumber(v.lo) === toNumber(v.hi) ? v.lo : (toNumber(v.lo) + toNumber(v.hi)) / 2, 6)) : '');
  const cell = (v, x) => (v.bool ? String(!!x) : String(x));

  function show() {
    const b = boardOf(here.vars, here.state);
    clear(state, b ? boardElement(b.cells, b.cols, { mini: true }) : null, el('p', { class: 'mono' }, here.text),
      here.labels.length ? el('p', {}, 'Labels: ' + here.labels.join(', ')) : null,
      here.value ? el('p', {}, 'Value: ', el('span', { class: 'value' }, valueText(here.value))) : null,
      here.rewards.length ? el('p', { class: 'soft' }, 'Rewards: ' + here.rewards.map((r) => `${r.name} ${number(r.state)}`).join(', ')) : null);
    const chain = !['mdp', 'lts', 'pomdp'].includes(here.type);
    clear(moves, here.moves.length ? here.moves.map((m) => el('li', { style: 'margin-bottom:8px' },
      el('strong', {}, (m.best ? '★ ' : '') + (/^\[/.test(m.action) ? m.action : `module ${m.action}`)), m.best ? el('span', { class: 'chip' }, 'best') : null,
      el('div', { class: 'scroll' }, m.to.map((t) => el('div', { style: 'margin:3px 0' }, button(change(t.state), attempt(() => look([...path, { state: t.state, action: m.action, p: t.p }])), { class: 'small mono', 'aria-label': `${m.action} with ${chain && here.type === 'ctmc' ? 'rate' : 'probability'} ${number(t.p)} to ${t.text}` }),
        el('span', { class: 'soft' }, ` ${here.type === 'ctmc' ? 'rate ' : ''}${number(t.p)}${t.value ? ', then value ' + valueText(t.value) : ''}`)))))) : el('li', { class: 'warn' }, 'A deadlock: nothing can be done.'));
    clear(head, el('tr', {}, ['step', 'action', ...here.vars.map((v) => v.name), property.value !== '' ? 'value' : null].filter(Boolean).map((t) => el('th', { scope: 'col' }, t))));
    clear(rows, path.slice(-300).map((s, i) => { const n = Math.max(0, path.length - 300) + i; return el('tr', { 'aria-current': n === path.length - 1 ? 'true' : null }, el('td', { class: 'num' }, String(n)), el('td', {}, s.action), here.vars.map((v, j) => el('td', { class: 'mono' }, cell(v, s.state[j]))), property.value !== '' ? el('td', { class: 'mono' }, valueText(s.value)) : null); }));
    rows.lastElementChild?.scrollIntoView({ block: 'nearest' });
    undo.disabled = path.length < 2;
    if (![...plotted].some((v) => here.vars.some((w) => w.name === v))) plotted = new Set(here.vars.slice(0, 3).map((v) => v.name));
    clear(variables, here.vars.slice(0, 24).map((v) => { const c = el('input', { type: 'checkbox', checked: plotted.has(v.name), onchange: () => { if (c.checked) plotted.add(v.name); else plotted.delete(v.name); chart(); } }); return el('label', {}, c, ' ' + v.name); }));
    chart();
  }

  function chart() {
    plot.set(here.vars.flatMap((v, j) => (plotted.has(v.name) ? [{ name: v.name, points: path.map((s, i) => ({ x: i, y: s.state[j] })) }] : []))
      .concat(path.some((s) => s.value && !s.value.boolean) ? [{ name: 'value of the property', gaps: true, points: path.flatMap((s, i) => (s.value ? [{ x: i, y: (toNumber(s.value.lo) + toNumber(s.value.hi)) / 2 }] : [])) }] : [],
        (here.rewards || []).map((r, j) => ({ name: 'reward ' + r.name, points: path.flatMap((s, i) => (s.rewards ? [{ x: i, y: toNumber(s.rewards[j]?.state) }] : [])) }))));
  }

  // change is what a step changes, for a button.
  function change(to) {
    const out = here.vars.flatMap((v, i) => (to[i] !== here.state[i] ? [`${v.name}'=${cell(v, to[i])}`] : []));
    return out.length ? out.join(' ') : 'stays';
  }

  const walked = (s) => ({ state: s.state, action: s.action || '', p: s.p, time: s.time, rewards: s.rewards.map((x) => ({ state: x })) });

  async function random() {
    const last = path[path.length - 1];
    const [, answer] = await current.answer('Random steps', 'simulate', 'walk', { state: last.state, steps: Math.max(1, Math.min(10000, Number(steps.value) || 1)), seed: Number(seed.value) || 0, index: path.length - 1 });
    await look([...path, ...answer.steps.slice(1).map(walked)]);
    status.say(`${answer.steps.length - 1} steps, seed ${seed.value}; the path ends here: ${answer.end}.`);
  }

  // The columns are those of tilecheck simulate --format csv.
  const csv = () => ['action,step,' + here.vars.map((v) => v.name).join(','), ...path.map((s, i) => [i ? s.action : '-', i, ...here.vars.map((v, j) => cell(v, s.state[j]))].join(','))].join('\n') + '\n';

  const load = attempt(async (name, text) => {
    const found = await work('Load ' + name, (signal, part) => ask('follow', { ...doc.single, name, text }, { signal, part }), 'simulate');
    await look(found.steps.map(walked));
    status.say(`A path of ${path.length - 1} steps, each of them checked; its probability is ${found.probability}.`);
  });

  function listProperties() {
    const next = choice([['', 'no property'], ...(doc.properties || []).filter((p) => !p.error).map((p) => [String(p.index), (p.name ? p.name + ': ' : '') + p.text])], property.value, attempt(() => look()));
    property.replaceWith(next);
    property = next;
  }
  // values shows the values of a property along the path.
  async function values(index) {
    listProperties();
    property.value = String(index);
    await (current.outdated ? begin() : look());
  }

  doc.addEventListener('diagnosed', listProperties);
  doc.addEventListener('picked', attempt(async () => { if (element.isConnected && current.outdated) await begin(); }));
  return { element, values, show: attempt(async () => { listProperties(); if (current.outdated) await begin(); }) };
}
