// Experiments: properties over ranges of constants. Those that were run are in a list, and as many as one wants are in the plot.
import { el, clear, button, field, choice, input, number, upload } from './dom.js';
import { ask } from './api.js';
import { doc } from './document.js';
import { status, stop, attempt } from './status.js';
import { Current } from './current.js';
import { choose } from './dialog.js';
import { Plot, csv } from './plot.js';
import { valueOf } from './property-table.js';
import { Experiment, Drawing, load, loadSettings, readResults, saveSettings, seriesToCompare, valuesOf } from './experiments.js';

const mostRows = 1000; // of the table of results; the CSV has all of them

export function create() {
  let experiments = load();
  const settings = { title: '', axis: '', logX: false, logY: false, intervals: 'bands', names: {}, ...loadSettings() };
  let property = choice([], '');
  const method = choice([['', 'all states'], ['ci', 'sampling']], '', () => { samplesField.hidden = !method.value; });
  const samples = el('input', { type: 'number', min: 10, step: 10 }); samples.value = 1000;
  const samplesField = field('Samples', samples);
  samplesField.hidden = true;
  const engines = el('div', { class: 'row', role: 'group', 'aria-label': 'Engines' });
  const plot = new Plot('experiment', { x: '', y: '', intervals: settings.intervals, rename: renameSeries, csv: resultsCSV });
  const title = input(settings.title, { class: 'grow', placeholder: 'none' });
  title.addEventListener('input', () => { set({ title: title.value }); });
  const axisPlace = el('span');
  const logX = el('input', { type: 'checkbox', checked: settings.logX, onchange: () => setLog('logX'), name: 'log-x' });
  const logY = el('input', { type: 'checkbox', checked: settings.logY, onchange: () => setLog('logY'), name: 'log-y' });
  const intervals = choice([['bands', 'bands'], ['bars', 'bars'], ['none', 'not drawn']], settings.intervals, (v) => set({ intervals: v }));
  const note = el('div', { role: 'status' });
  const list = el('ul', { class: 'list experiments', 'aria-label': 'Experiments' });
  const deleteAll = button('Delete all', attempt(() => removeAll()), { class: 'small' });
  const empty = el('p', { class: 'soft' }, 'None has been run.');
  const table = el('table', { 'aria-label': 'Results' });
  const cut = el('p', { class: 'soft' });
  let drawing = new Drawing([], '');
  let disagreements = [];

  const element = el('div', {},
    el('p', { class: 'soft screen' }, 'A constant without a value in the text (const int N;) gets a range low:step:high or a list of values above. Results come as they are computed.'),
    el('div', { class: 'row' }, field('Property', property, 'grow'), field('Method', method), samplesField, engines, button('Run', attempt(() => run()), { class: 'main' })));
  const current = new Current(el('div', { class: 'two' },
    el('section', { class: 'panel' }, el('h2', {}, 'Plot'),
      el('div', { class: 'row' }, field('Title', title, 'grow'), axisPlace, field('Intervals', intervals), el('label', {}, logX, ' log x'), el('label', {}, logY, ' log y')), note, plot.element),
    el('div', {},
      el('section', { class: 'panel' }, el('div', { class: 'head' }, el('h2', {}, 'Experiments'), el('div', { class: 'row' }, button('Load results…', () => upload('.csv', loadResults), { class: 'small' }), deleteAll)), empty, list),
      el('section', { class: 'panel' }, el('h2', {}, 'Results'), el('div', { class: 'scroll', style: 'max-height:50vh', tabindex: 0, role: 'region', 'aria-label': 'Results' }, table), cut))), attempt(() => run()));
  element.append(current.element);

  const shown = () => experiments.filter((e) => e.shown);

  // set changes how the plot is drawn, and keeps that.
  function set(changed) {
    Object.assign(settings, changed);
    saveSettings(settings);
    draw();
  }

  // setLog makes an axis logarithmic, unless a point is not positive there.
  function setLog(name) {
    const box = name === 'logX' ? logX : logY;
    const refused = box.checked && refusal(name);
    if (refused) box.checked = false;
    set({ [name]: box.checked });
    if (refused) say(refused);
  }

  // refusal says why an axis cannot be logarithmic; nothing if it can.
  function refusal(name) {
    const axis = name === 'logX' ? 'x' : 'y';
    if (axis === 'x' && drawing.ticks) return `The x axis cannot be logarithmic: the values of ${drawing.axis} are not numbers.`;
    const p = plot.notPositive(axis);
    return p ? `The ${axis} axis cannot be logarithmic: ${p.series.name} has the value ${number(p[axis])}${axis === 'y' ? ` at ${plot.x} ${p.xText || number(p.x)}` : ''}, want only positive values.` : '';
  }

  const say = (text) => clear(note, text ? el('div', { class: 'note' }, text) : null);

  // loadResults puts the results of a file into the list, and into the plot.
  const loadResults = attempt(async (name, text) => {
    const results = readResults(name, text);
    if (!results.length) throw Object.assign(new Error(`${name} has no results.`), { expected: true });
    const e = new Experiment({ id: Math.max(Date.now(), ...experiments.map((x) => x.id + 1)), number: 0, title: name, file: name, digest: '', property: results[0].property, const: '', method: '', state: 'done' });
    for (const v of results) e.add(v);
    experiments.push(e);
    plot.zoomed = null;
    kept(e);
    refresh();
    status.say(`${results.length} results of ${name}.`);
  });

  const numbers = new Set(); // those of the experiments that run, some of which have no results yet
  async function run() {
    const number = 1 + Math.max(0, ...experiments.map((e) => e.number), ...numbers);
    numbers.add(number); // before anything is waited for: the next one gets another number
    try {
      await compute(number);
    } finally {
      numbers.delete(number);
      refresh();
    }
  }

  async function compute(number) {
    current.forget();
    await doc.diagnosed();
    const p = doc.properties.find((x) => x.index === Number(property.value));
    if (!p) { status.say('There is no property to check.'); return; }
    const question = { ...doc.source, select: [p.index], method: method.value, engines: [...engines.querySelectorAll('input:checked')].map((c) => c.value) };
    if (method.value) Object.assign(question, { samples: Number(samples.value), seed: 1, confidence: 0.99 });
    const id = Math.max(Date.now(), ...experiments.map((e) => e.id + 1)); // other tabs have other ones
    let e = null;
    const add = (v) => {
      e ??= begin({ id, number, title: `${number}: ${p.name || p.text}`, file: doc.file, digest: doc.digest, property: p.text, const: question.const, method: method.value });
      e.add(v);
      soon();
    };
    try {
      await current.compute(`Experiment ${number}`, `experiment ${id}`, (signal, part) => {
        doc.needed(p);
        return ask('experiment', question, { signal, part: (name, v) => { if (name === 'point') add(v); else part(name, v); } });
      });
      if (e) e.state = 'done';
      status.say(`${e?.results.length || 0} results.`);
    } catch (error) {
      if (e) e.state = error?.name === 'AbortError' ? 'stopped' : error.message;
      throw error;
    } finally {
      if (e && experiments.includes(e)) kept(e);
    }
  }

  // begin puts a new experiment into the list. If nothing of the file was in the plot, the plot is its own.
  function begin(of) {
    if (!shown().some((e) => e.digest === of.digest)) for (const e of experiments) { e.shown = false; kept(e); }
    const e = new Experiment(of);
    experiments.push(e);
    plot.zoomed = null;
    kept(e);
    return e;
  }

  function kept(e) {
    if (!e.save()) say(`${e.title} is too large to be kept when the page is left: save it as CSV.`);
  }
  addEventListener('pagehide', () => { for (const e of experiments) if (e.state === 'running') e.save(); });

  // soon draws a few times a second while results come.
  let due = null;
  let saved = performance.now();
  function soon() {
    due ??= setTimeout(() => { due = null; refresh(); }, 200);
    if (performance.now() - saved < 5000) return;
    saved = performance.now();
    for (const e of experiments) if (e.state === 'running') kept(e);
  }

  function refresh() {
    clearTimeout(due);
    due = null;
    drawList();
    draw();
    drawTable();
    compare();
  }

  function draw() {
    drawing = new Drawing(shown(), settings.axis, settings.names);
    for (const s of drawing.series) for (const p of s.points) p.disagrees = disagreementAt(p.result);
    const objectives = drawing.series.find((s) => s.frontier)?.frontier.objectives;
    Object.assign(plot, {
      x: drawing.pareto ? objectives?.[0] || 'first objective' : drawing.axis || '', y: drawing.pareto ? objectives?.[1] || 'second objective' : drawing.axis ? 'value' : '',
      title: settings.title, ticks: drawing.ticks, intervals: settings.intervals, logX: false, logY: false, limits: drawing.probabilities && !drawing.pareto ? [0, 1] : null,
    });
    plot.series = drawing.series; // whose points say which axes can be logarithmic
    const refused = ['logX', 'logY'].filter((name) => settings[name]).map((name) => refusal(name)).filter(Boolean);
    for (const name of ['logX', 'logY']) plot[name] = settings[name] && !refusal(name);
    plot.draw();
    logX.checked = plot.logX;
    logY.checked = plot.logY;
    const omitted = drawing.omitted ? [`${drawing.omitted} results are not in the plot: they have no finite value${drawing.axis ? `, or no value of ${drawing.axis}` : ''}.`] : [];
    say([...refused, ...omitted].join(' '));
    const options = drawing.pareto ? [] : drawing.constants.length ? drawing.constants : drawing.axis ? [drawing.axis] : [];
    const old = axisPlace.querySelector('select');
    if (old && options.length && [...old.options].map((o) => o.value).join() === options.join() && old.value === (drawing.axis || '')) return;
    if (old !== document.activeElement || !old) clear(axisPlace, options.length ? field('x axis', choice(options, drawing.axis, (v) => { plot.zoomed = null; set({ axis: v }); })) : null);
  }

  // compare has the server find where the results in the plot contradict each other.
  let asked = '';
  async function compare() {
    const series = seriesToCompare(shown());
    const key = JSON.stringify(series.map((s) => [s.name, s.digest, s.results.length]));
    if (key === asked || shown().some((e) => e.state === 'running')) return;
    asked = key;
    const found = series.length < 2 ? { disagreements: [] } : await ask('agreement', { series }).catch((e) => { say(`The results could not be compared: ${e.message}`); return null; });
    if (!found || asked !== key) return;
    disagreements = found.disagreements;
    draw();
    drawTable();
  }

  const about = (v) => JSON.stringify([v.property, v.constants || {}]);
  const disagreementAt = (v) => disagreements.filter((d) => about(d) === about(v)).map((d) => d.reason).join('; ');

  // rows are those of the list, by experiment. They stay the same elements while results come, so that they can be clicked on.
  const rows = new Map();
  function rowOf(e) {
    if (rows.has(e)) return rows.get(e);
    const box = el('input', { type: 'checkbox', onchange: () => { e.shown = box.checked; plot.zoomed = null; kept(e); refresh(); } });
    const name = el('span', { class: 'title' });
    const about = el('div', { class: 'soft' });
    const failure = el('div', { class: 'bad' });
    const buttons = [['Rename', renameExperiment], ['Delete', remove]].map(([text, act]) => button(text, attempt(() => act(e)), { class: 'small' }));
    const update = () => {
      const older = e.file !== doc.file ? e.file : e.digest !== doc.digest ? 'an older text' : '';
      const state = { running: 'running…', done: '', stopped: 'stopped' }[e.state];
      box.checked = e.shown;
      box.setAttribute('aria-label', `Plot ${e.title}`);
      name.textContent = e.title;
      const parts = [!e.title.includes(e.property) && el('code', {}, e.property), e.const, [...new Set(e.results.map((v) => v.engine))].join(', '), e.method && 'sampling', `${e.results.length} results`, older && `of ${older}`, state && el('strong', {}, state)];
      clear(about, parts.filter(Boolean).flatMap((x, i) => (i ? [', ', x] : [x])));
      failure.textContent = state === undefined ? `✕ ${e.state}` : '';
      for (const b of buttons) b.setAttribute('aria-label', `${b.textContent} ${e.title}`);
    };
    rows.set(e, { update, element: el('li', {}, el('label', {}, box, ' ', name), about, failure, el('div', { class: 'row' }, buttons)) });
    return rows.get(e);
  }

  function drawList() {
    empty.hidden = experiments.length > 0;
    deleteAll.hidden = !experiments.length;
    const wanted = [...experiments].reverse().map((e) => rowOf(e));
    for (const row of wanted) row.update();
    if (wanted.length !== list.childElementCount || wanted.some((row, i) => list.children[i] !== row.element)) clear(list, wanted.map((row) => row.element));
  }

  async function renameExperiment(e) {
    const name = input(e.title, { 'aria-label': 'Name', class: 'wide' });
    if (await choose(`A name for ${e.title}`, ['Rename', 'Cancel'], name) !== 'Rename' || !name.value.trim()) return;
    e.title = name.value.trim();
    kept(e);
    refresh();
  }

  function renameSeries(s, name) {
    const names = { ...settings.names, [s.key]: name };
    if (!name) delete names[s.key];
    set({ names });
  }

  function remove(e) {
    e.forget();
    experiments = experiments.filter((x) => x !== e);
    rows.delete(e);
    stop(`experiment ${e.id}`);
    refresh();
  }

  async function removeAll() {
    if (!experiments.length || await choose(`Delete all ${experiments.length} experiments?`, ['Delete', 'Cancel']) !== 'Delete') return;
    for (const e of [...experiments]) remove(e);
  }

  function drawTable() {
    const results = shown().flatMap((e) => e.results.map((v) => [e, v]));
    const constants = [...valuesOf(results.map(([, v]) => v)).keys()];
    const several = shown().length > 1;
    const lines = results.slice(0, mostRows).map(([e, v]) => {
      const reason = disagreementAt(v);
      return el('tr', {}, several ? el('td', {}, e.title) : null, el('td', {}, v.engine), constants.map((name) => el('td', { class: 'mono' }, v.constants && name in v.constants ? String(v.constants[name]) : '')), el('td', {}, v.kind === 'curve' ? el('span', { class: 'value curve' }, v.value.map((p) => `(${p.map((x) => number(x)).join(', ')})`).join(', ')) : valueOf(v), reason ? el('span', { class: 'bad', title: reason }, ' ≠') : null), el('td', {}, v.accuracy === 'exact' ? 'exact' : v.short?.half || ''));
    });
    clear(table, el('thead', {}, el('tr', {}, [several ? 'experiment' : null, 'engine', ...constants, 'value', '±'].filter(Boolean).map((t) => el('th', { scope: 'col' }, t)))), el('tbody', {}, lines));
    cut.textContent = results.length > mostRows ? `The first ${mostRows} of ${results.length.toLocaleString('en')} results. The CSV has all of them.` : '';
  }

  // resultsCSV has a row for each result in the plot, or for each vertex of a Pareto curve, and a column for each constant.
  function resultsCSV() {
    const results = shown().flatMap((e) => e.results.map((v) => [e, v]));
    const constants = [...valuesOf(results.map(([, v]) => v)).keys()];
    const columns = ['experiment', 'property', 'engine', 'method', ...constants.map((name) => `constants_${name}`), 'value', ...(drawing.pareto ? ['objective_1', 'objective_2'] : []), 'fraction', 'lower', 'upper', 'half_width', 'accuracy', 'error_message'];
    const row = (e, v, value, coordinates = []) => [e.title, v.property, v.engine, v.method, ...constants.map((name) => v.constants?.[name]), value, ...coordinates, v.fraction, v.lower, v.upper, v.half_width, v.accuracy, v.error?.message];
    return csv(columns, results.flatMap(([e, v]) => {
      if (v.kind === 'curve') return v.value.map((p) => row(e, v, '', [p[0], p[1]]));
      return [row(e, v, v.value, drawing.pareto ? ['', ''] : [])];
    }));
  }

  function listProperties() {
    const next = choice((doc.properties || []).filter((p) => !p.error).map((p) => [String(p.index), (p.name ? p.name + ': ' : '') + p.text]), property.value || '0');
    property.replaceWith(next);
    property = next;
    if (!engines.childElementCount && doc.info.engines.length > 1) clear(engines, doc.info.engines.map((e, i) => el('label', {}, el('input', { type: 'checkbox', value: e, checked: i === 0 }), ' ' + e)));
  }
  doc.addEventListener('diagnosed', () => { listProperties(); drawList(); });
  refresh();
  return { element, show: listProperties, choose(index) { listProperties(); property.value = String(index); } };
}
