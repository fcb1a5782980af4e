// The table of properties: what each one is, what its value is, and what one can do with it.
import { el, clear, button, interval, toNumber } from './dom.js';
import { doc } from './document.js';

const nameOf = (p) => p.name || p.text;

// columns are the title of each column, and by what it is sorted.
const columns = [
  ['Name', (p) => p.name],
  ['Property', (p) => p.text],
  ['Constants', (p, v) => v && constantsOf(v)],
  ['Value', (p, v) => v && (typeof v.value === 'boolean' ? Number(v.value) : toNumber(v.value))],
  ['±', (p, v) => v && (v.lower === undefined ? undefined : toNumber(v.upper) - toNumber(v.lower))],
  ['Expected', (p, v) => v?.outcome],
  ['Resolution', (p, v) => v?.resolution],
  ['Method', (p, v) => v?.method],
  ['Time', (p, v) => v?.seconds],
  ['States', (p, v) => v?.states],
];

const constantsOf = (v) => Object.entries(v.constants || {}).map(([name, value]) => `${name}=${value}`).join(', ');

// numberOf returns the digits of a verdict: those that fit into a table, or all that its interval justifies.
const numberOf = (v, all) => (all && v.full ? v.full : v.short);

// valueOf shows the value of a verdict.
export function valueOf(v, all = false) {
  if (v.error && v.value === undefined) return el('span', { class: 'bad' }, `✕ ${v.error.message}`);
  if (typeof v.value === 'boolean') return el('span', { class: 'value ' + (v.value ? 'good' : 'bad') }, v.value ? '✓ true' : '✕ false');
  const n = numberOf(v, all);
  return el('span', { class: 'value', title: n?.interval ? `in ${n.interval}` : null }, n ? n.value : typeof v.value === 'object' ? JSON.stringify(v.value) : String(v.value));
}

// methodOf says how a value was obtained, with what repeats it.
export function methodOf(v) {
  const parts = [v.method, v.accuracy];
  if (v.samples) parts.push(`${v.samples.toLocaleString('en')} samples`);
  if (v.confidence) parts.push(`confidence ${v.confidence}`);
  if (v.seed !== undefined) parts.push(`seed ${v.seed}`);
  return parts.filter(Boolean).join(', ');
}

export class PropertyTable {
  // act has a function for everything that one can do with a property: check, why, experiment, certify, simulate, edit, copy, remove.
  constructor(act) {
    this.act = act;
    this.results = new Map(); // by the text of the property: {revision, verdicts, error, running}
    this.properties = [];
    this.sorted = null; // {column, down}
    this.open = new Set(); // the texts of properties whose further actions are shown
    this.table = el('table', { class: 'properties', 'aria-label': 'Properties' });
    this.notes = el('ol', { class: 'notes', 'aria-label': 'Notes' });
    this.all = el('input', { type: 'checkbox', onchange: () => this.draw() });
    this.element = el('div', {}, el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Properties and results' }, this.table), this.notes);
    this.allDigits = el('label', {}, this.all, ' all digits');
  }

  set(properties) { this.properties = properties; this.draw(); }

  forget() { this.results.clear(); this.set([]); }

  // current returns the results of the texts as they are now, as pairs of a property and its verdicts, and the properties whose check runs.
  current() {
    const now = [...this.results].filter(([, r]) => r.revision === doc.revision);
    return { results: now.filter(([, r]) => r.verdicts?.length).map(([text, r]) => [text, r.verdicts]), running: now.filter(([, r]) => r.running).map(([text]) => text) };
  }

  // put shows what is known of a property.
  put(p, result) {
    this.results.set(p.text, result);
    this.due ??= requestAnimationFrame(() => { this.due = null; this.draw(); });
  }

  // lines has one line for each verdict, and for each property without one.
  lines() {
    const out = this.properties.flatMap((p) => {
      const result = this.results.get(p.text);
      return result?.verdicts?.length ? result.verdicts.map((v) => ({ p, v, result })) : [{ p, v: null, result }];
    });
    if (!this.sorted) return out;
    const key = columns[this.sorted.column][1];
    const empty = (x) => x === undefined || x === null || x === '' || Number.isNaN(x);
    return out.map((line) => [key(line.p, line.v), line]).sort(([a], [b]) => {
      if (empty(a) || empty(b)) return empty(a) - empty(b); // at the end in either direction
      const order = typeof a === 'number' ? a - b : String(a).localeCompare(String(b));
      return this.sorted.down ? -order : order;
    }).map(([, line]) => line);
  }

  draw() {
    const focused = this.table.contains(document.activeElement) ? document.activeElement.getAttribute('aria-label') : null;
    const lines = this.lines();
    const used = columns.map(([title]) => (title !== 'Name' || lines.some((l) => l.p.name)) && (title !== 'Constants' || lines.some((l) => l.v && constantsOf(l.v))) && (title !== 'Expected' || lines.some((l) => l.v?.outcome)));
    const notes = [];
    const note = (text) => { if (!notes.includes(text)) notes.push(text); return el('sup', {}, `[${notes.indexOf(text) + 1}]`); };
    const head = columns.map(([title], i) => used[i] && el('th', { scope: 'col', 'aria-sort': this.sorted?.column === i ? (this.sorted.down ? 'descending' : 'ascending') : null },
      button(title + (this.sorted?.column === i ? (this.sorted.down ? ' ▼' : ' ▲') : ''), () => this.sort(i), { class: 'quiet small', 'aria-label': `Sort by ${title}` })));
    const acted = new Set();
    const bodies = lines.map((line) => {
      const first = !acted.has(line.p);
      acted.add(line.p);
      const old = line.result && line.result.revision !== doc.revision;
      const cells = this.cells(line, note);
      return el('tbody', { class: old && line.v ? 'outdated-row' : '', title: old && line.v ? 'This is of an older text or other constants.' : null, 'data-property': line.p.text },
        el('tr', {}, columns.map(([title], i) => used[i] && el('td', { 'data-title': title, class: 'col-' + title.toLowerCase() }, cells[i])), el('td', { class: 'col-actions' }, first ? this.actions(line.p) : null)));
    });
    clear(this.table, el('thead', {}, el('tr', {}, head, el('th', { scope: 'col' }, 'Actions'))), bodies);
    clear(this.notes, notes.map((text) => el('li', {}, text)));
    this.notes.hidden = !notes.length;
    if (focused) [...this.table.querySelectorAll('[aria-label]')].find((e) => e.getAttribute('aria-label') === focused)?.focus();
  }

  // cells are the contents of a line, in the order of the columns.
  cells({ p, v, result }, note) {
    const all = this.all.checked;
    const text = [p.name || '', el('code', {}, p.text)];
    if (!v) {
      const state = p.error ? el('span', { class: 'bad' }, `✕ ${p.error}`)
        : result?.running ? el('span', { class: 'soft' }, 'running…')
          : result?.error ? el('span', { class: 'bad' }, `✕ ${result.error}`)
            : p.needs?.length ? el('span', { class: 'warn' }, `needs ${p.needs.join(', ')}`) : el('span', { class: 'soft' }, '–');
      return [...text, '', state, '', '', '', '', '', ''];
    }
    const marks = [...(v.warnings || []), v.doubt, v.outcome === 'FAIL' ? v.reason : '', v.value !== undefined ? v.error?.message : ''].filter(Boolean).map(note);
    const n = numberOf(v, all);
    const expected = v.outcome ? el('span', { class: v.outcome === 'PASS' ? 'good' : v.outcome === 'FAIL' ? 'bad' : 'soft', title: v.reason || null }, `${{ PASS: '✓ pass', FAIL: '✕ fail' }[v.outcome] || v.outcome.toLowerCase()}: ${v.expected}`) : '';
    return [...text, el('span', { class: 'mono' }, constantsOf(v)), el('span', {}, valueOf(v, all), marks), n && v.accuracy === 'exact' ? 'exact' : n?.half || '', expected,
      v.resolution || '', methodOf(v), v.time || '', v.states ? v.states.toLocaleString('en') : ''];
  }

  actions(p) {
    const does = (title, f, disabled = false) => button(title, () => f(p), { class: 'small', disabled, 'aria-label': `${title.replace(/[?…]$/, '')} ${nameOf(p)}` });
    const blocked = !!p.error || !!p.needs?.length;
    const more = el('details', { class: 'more', open: this.open.has(p.text), ontoggle: () => { if (more.open) this.open.add(p.text); else this.open.delete(p.text); } }, el('summary', { 'aria-label': `More for ${nameOf(p)}` }, 'More'),
      el('div', {}, does('Experiment', this.act.experiment), does('Certify', this.act.certify, blocked), does('Simulate', this.act.simulate, !!p.error),
        p.to ? [does('Edit…', this.act.edit), does('Copy', this.act.copy), does('Delete', this.act.remove)] : null));
    return el('div', {}, does('Check', this.act.check, !!p.error), does('Why?', this.act.why, blocked), more);
  }

  sort(column) {
    this.sorted = this.sorted?.column !== column ? { column, down: false } : this.sorted.down ? null : { column, down: true };
    this.draw();
  }
}

// verdictText says a verdict in one line.
export const verdictText = (v) => (v.error && v.value === undefined ? v.error.message : typeof v.value === 'boolean' ? String(v.value) : v.short ? v.short.value + (v.short.half ? ` ± ${v.short.half}` : '') : v.lower !== undefined ? interval(v.lower, v.upper) : JSON.stringify(v.value));
