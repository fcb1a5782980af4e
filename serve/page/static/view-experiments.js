// A property over ranges of constants.
import { el, clear, button, field, choice, toNumber } from './dom.js';
import { ask } from './api.js';
import { doc } from './document.js';
import { status, attempt } from './status.js';
import { Current } from './current.js';
import { Plot } from './plot.js';
import { valueOf } from './property-table.js';

export function create() {
  let property = choice([], '');
  const propertyField = field('Property', property, 'grow');
  const method = choice([['', 'all states'], ['ci', 'sampling']], '');
  const samples = el('input', { type: 'number', min: 10, step: 10 }); samples.value = 1000;
  const engines = el('div', { class: 'row', role: 'group', 'aria-label': 'Engines' });
  const plot = new Plot('experiment', { x: 'constant', y: 'value' });
  const rows = el('tbody');
  let points = [];

  const element = el('div', {},
    el('p', { class: 'soft' }, 'A constant without a value in the text, such as const int N;, gets a range low:step:high or a list of values above. Results come as they are computed.'),
    el('div', { class: 'row' }, propertyField, field('Method', method), field('Samples', samples), engines, button('Run', attempt(() => run()), { class: 'main' })));
  const current = new Current(el('div', { class: 'two' }, el('section', { class: 'panel' }, plot.element), el('section', { class: 'panel' }, el('div', { class: 'scroll', style: 'max-height:60vh', tabindex: 0, role: 'region', 'aria-label': 'Results' }, el('table', { 'aria-label': 'Results' }, el('thead', {}, el('tr', {}, ['engine', 'constants', 'value'].map((t) => el('th', { scope: 'col' }, t)))), rows)))), attempt(() => run()));
  element.append(current.element);

  async function run() {
    await doc.diagnosed();
    current.stale();
    let begun = false; // with the first point, those of the experiment before go
    const add = (v, of) => {
      if (!begun) { begun = true; points = []; clear(rows); plot.zoomed = null; current.done(of); }
      put(v);
    };
    const question = { ...doc.source, select: [Number(property.value)], method: method.value, engines: [...engines.querySelectorAll('input:checked')].map((c) => c.value) };
    if (method.value) Object.assign(question, { samples: Number(samples.value), seed: 1, confidence: 0.99 });
    await current.compute('Experiment', 'experiment', (signal, part, of) => {
      doc.needed(doc.properties.find((p) => p.index === Number(property.value)));
      return ask('experiment', question, { signal, part: (name, v) => { if (name === 'point') add(v, of); else part(name, v); } });
    });
    draw();
    status.say(`${points.length} results.`);
  }

  let due = null;
  function put(v) {
    points.push(v);
    if (points.length <= 2000) rows.append(el('tr', {}, el('td', {}, v.engine), el('td', { class: 'mono' }, Object.entries(v.constants || {}).map(([k, x]) => `${k}=${x}`).join(', ')), el('td', {}, valueOf(v))));
    due ??= requestAnimationFrame(() => { due = null; draw(); });
  }

  function draw() {
    // The axis is the constant with the most values; each valuation of the others is a series.
    const values = new Map();
    for (const p of points) for (const [k, v] of Object.entries(p.constants || {})) values.set(k, (values.get(k) || new Set()).add(String(v)));
    const axis = [...values].sort((a, b) => b[1].size - a[1].size)[0]?.[0];
    plot.x = axis || 'constant';
    const series = new Map();
    for (const p of points) {
      if (p.error || axis === undefined) continue;
      const others = Object.entries(p.constants).filter(([k]) => k !== axis && values.get(k).size > 1).map(([k, v]) => `${k}=${v}`);
      const name = [p.engine, ...others].join(', ');
      const y = typeof p.value === 'boolean' ? Number(p.value) : toNumber(p.value);
      const s = series.get(name) || { name, points: [] };
      s.points.push({ x: Number(p.constants[axis]), y, lo: toNumber(p.lower ?? y), hi: toNumber(p.upper ?? y) });
      series.set(name, s);
    }
    plot.set([...series.values()]);
  }

  function list() {
    const next = choice((doc.properties || []).filter((p) => !p.error).map((p) => [String(p.index), (p.name ? p.name + ': ' : '') + p.text]), property.value || '0');
    property.replaceWith(next);
    property = next;
    if (!engines.childElementCount && doc.info.engines.length > 1) clear(engines, doc.info.engines.map((e, i) => el('label', {}, el('input', { type: 'checkbox', value: e, checked: i === 0 }), ' ' + e)));
  }
  doc.addEventListener('diagnosed', list);
  return { element, show: list, choose(index) { list(); property.value = String(index); } };
}
