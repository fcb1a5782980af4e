// The experiments that were run: each is a property over ranges of constants, with its results. They are kept in the browser until they are deleted.
import { toNumber } from './dom.js';
import { rowsOfCSV } from './plot.js';

const prefix = 'experiment:';
const settingsKey = 'experiment-plot';

// fields are those of a result that are kept, under the names of docs/json.md.
const fields = ['property', 'name', 'constants', 'engine', 'method', 'value', 'fraction', 'kind', 'precision', 'lower', 'upper', 'half_width', 'bound_method', 'confidence', 'samples', 'seed', 'accuracy', 'resolution', 'doubt', 'short', 'frontier', 'error'];

const keep = (v) => Object.fromEntries(fields.filter((f) => v[f] !== undefined).map((f) => [f, v[f]]));

export class Experiment {
  // An experiment has an id, a number, a title, the file and the digest of its texts, its property, the values of constants as a text, and its state: running, done,
  // stopped, or an error message. shown says whether it is in the plot.
  constructor(of) {
    Object.assign(this, { shown: true, state: 'running', results: [], ...of });
    this.known = new Set(this.results.map(identity));
  }

  // add takes a result, unless it has come before.
  add(v) {
    if (this.known.has(identity(v))) return;
    this.known.add(identity(v));
    this.results.push(keep(v));
  }

  // save keeps the experiment in the browser, and reports whether there was room for it.
  save() {
    try {
      localStorage.setItem(prefix + this.id, JSON.stringify({ ...this, known: undefined }));
      return true;
    } catch {
      localStorage.removeItem(prefix + this.id);
      return false;
    }
  }

  forget() { localStorage.removeItem(prefix + this.id); }
}

// identity is a text for what a result is about.
const identity = (v) => JSON.stringify([v.engine, v.property, v.constants]);

// load returns the experiments of the browser, in the order in which they were run. One that was running when the page was left is stopped.
export function load() {
  const out = [];
  for (const key of Object.keys(localStorage).filter((k) => k.startsWith(prefix))) {
    try {
      const e = new Experiment(JSON.parse(localStorage.getItem(key)));
      if (e.state === 'running') e.state = 'stopped';
      out.push(e);
    } catch { localStorage.removeItem(key); }
  }
  return out.sort((a, b) => a.id - b.id);
}

// loadSettings returns how the plot was drawn when the page was left, saveSettings keeps it.
export function loadSettings() {
  try { return JSON.parse(localStorage.getItem(settingsKey)) || {}; } catch { return {}; }
}

export function saveSettings(settings) {
  try { localStorage.setItem(settingsKey, JSON.stringify(settings)); } catch { /* not allowed */ }
}

// numberOf returns the number of the value of a constant; NaN if it is not a number.
export function numberOf(value) {
  if (typeof value === 'boolean') return NaN;
  const [numerator, denominator] = String(value).split('/').map(Number);
  return denominator === undefined ? numerator : numerator / denominator;
}

// valuesOf returns the values of each constant in some results, by name.
export function valuesOf(results) {
  const out = new Map();
  for (const v of results) for (const [name, value] of Object.entries(v.constants || {})) out.set(name, (out.get(name) || new Set()).add(value));
  return out;
}

const isCurve = (v) => v.kind === 'curve';

// Drawing is what a plot shows of experiments: Pareto curves, if there are some, or values over a constant, the axis. Each engine and each valuation of the
// other constants of an experiment is a series.
export class Drawing {
  // names has the names that series were given, by their keys.
  constructor(experiments, axis, names = {}) {
    const all = experiments.flatMap((e) => e.results);
    const values = valuesOf(all);
    this.pareto = all.some(isCurve);
    this.constants = [...values].filter(([, set]) => set.size > 1).map(([name]) => name);
    const longest = [...this.constants].sort((a, b) => values.get(b).size - values.get(a).size)[0] || values.keys().next().value;
    this.axis = this.pareto ? null : this.constants.includes(axis) ? axis : longest;
    this.probabilities = all.length > 0 && all.every((v) => /^P/.test(v.property));
    this.omitted = 0; // results that are not in the plot
    this.series = [];
    this.values = values;
    this.setNames(experiments);
    this.setPlaces();
    const byKey = new Map();
    for (const e of experiments) for (const v of e.results) this.add(e, v, byKey, names);
    if (this.pareto) for (const s of this.series) s.points.sort((a, b) => a.x - b.x);
  }

  // setNames says what the names of series must have to be different: what is the same in all of them is left out.
  setNames(experiments) {
    this.several = experiments.length > 1;
    this.engines = new Set(experiments.flatMap((e) => e.results.map((v) => v.engine))).size > 1;
    this.others = this.constants.filter((name) => name !== this.axis);
  }

  // setPlaces gives the values of an axis places with names, if they are not numbers.
  setPlaces() {
    const values = [...(this.values.get(this.axis) || [])];
    this.ticks = values.some((v) => !Number.isFinite(numberOf(v))) ? values.map((v, i) => [i, String(v)]) : null;
  }

  add(e, v, byKey, names) {
    const others = this.others.filter((name) => v.constants && name in v.constants).map((name) => `${name}=${v.constants[name]}`);
    const name = [this.several ? e.title : '', this.engines ? v.engine : '', ...others].filter(Boolean).join(', ') || v.engine;
    const key = JSON.stringify([e.id, v.engine, this.axis, ...others]);
    const points = this.pareto ? curvePoints(v) : this.point(v);
    if (!points.length) { this.omitted++; return; }
    let s = byKey.get(key);
    if (!s) {
      s = { key, name: names[key] || name, points: [], experiment: e, frontier: v.frontier };
      byKey.set(key, s);
      this.series.push(s);
    }
    s.points.push(...points);
  }

  // point returns the point of a result on the axis, or none if it has no finite value or no value of that constant.
  point(v) {
    const of = v.constants?.[this.axis];
    const y = typeof v.value === 'boolean' ? Number(v.value) : toNumber(v.value);
    if (of === undefined || !Number.isFinite(y)) return [];
    const x = this.ticks ? this.ticks.findIndex(([, name]) => name === String(of)) : numberOf(of);
    const half = toNumber(v.half_width ?? 0) || 0;
    const text = typeof v.value === 'boolean' ? String(v.value) : v.short ? v.short.value + (v.short.interval ? ` in ${v.short.interval}` : '') : null;
    return [{ x, y, lo: toNumber(v.lower ?? y - half), hi: toNumber(v.upper ?? y + half), xText: String(of), text, result: v }];
  }
}

// curvePoints returns the vertices of a Pareto curve of two objectives.
function curvePoints(v) {
  if (!isCurve(v) || v.value[0]?.length !== 2) return [];
  return v.value.map(([x, y]) => ({ x: toNumber(x), y: toNumber(y), result: v }));
}

// readResults returns the results of a table that was saved here or written by check --format csv, or of a table of PRISM (-exportresults FILE:dataframe),
// whose last column, or that with the name Result, has the values. name is that of the file, for errors.
export function readResults(name, text) {
  const refuse = (line, message) => { throw Object.assign(new Error(`${name}:${line}: ${message}`), { expected: true }); };
  const [{ cells: header } = { cells: [] }, ...rows] = rowsOfCSV(text);
  if (header.length < 2) refuse(1, `found the columns ${header.join(', ') || 'of no table'}, want constants and a value.`);
  const column = ['value', 'Result'].find((c) => header.includes(c)) || header[header.length - 1]; // PRISM names it by what is computed
  const constantOf = (c) => (column === 'value' ? (c.startsWith('constants_') ? c.slice('constants_'.length) : '') : ['Property', column].includes(c) ? '' : c);
  return rows.map(({ cells, line }) => {
    if (cells.length !== header.length) refuse(line, `found ${cells.length} cells, want ${header.length}.`);
    const of = (c) => { const i = header.indexOf(c); return i < 0 || cells[i] === '' ? undefined : cells[i]; };
    const constants = {};
    header.forEach((c, i) => { if (constantOf(c) && cells[i] !== '') constants[constantOf(c)] = cells[i]; });
    const number = (c) => { const t = of(c); return Number.isFinite(Number(t)) ? Number(t) : t; };
    const value = { true: true, false: false }[of(column)] ?? number(column);
    if (typeof value === 'string' && !['NaN', 'Infinity', '-Infinity'].includes(value)) refuse(line, `found the value ${value}, want a number, true or false.`);
    return { property: of('property') ?? of('Property') ?? '', engine: of('engine') ?? name, constants, value, lower: number('lower'), upper: number('upper'), half_width: number('half_width') };
  });
}

// seriesToCompare returns the results of each engine of each experiment, as the server compares them. Of results from a file no text of a model is known, so they
// are not compared.
export function seriesToCompare(experiments) {
  const out = [];
  for (const e of experiments.filter((x) => x.digest)) {
    for (const engine of new Set(e.results.map((v) => v.engine))) {
      const results = e.results.filter((v) => v.engine === engine && v.value !== undefined).map(({ short, frontier, ...v }) => v);
      out.push({ name: experiments.length > 1 ? `${engine} (${e.title})` : engine, digest: e.digest, results });
    }
  }
  return out;
}
