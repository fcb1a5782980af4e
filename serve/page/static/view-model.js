// The text of a model and its properties, what is wrong with them, and what their values are.
import { el, clear, button, field, choice, menu, input, download, upload } from './dom.js';
import { ask, inServer, Failure } from './api.js';
import { doc, isProperties, stem } from './document.js';
import { status, work, attempt, refuse, tell, untell } from './status.js';
import { choose, showDifference } from './dialog.js';
import { PropertyTable } from './property-table.js';
import { Editor } from './editor.js';
import { keep, takeKept } from './kept.js';

export function create({ show, make, tour }) {
  const about = (inProps) => (name, more) => ask(name, { ...doc.source, in_props: inProps, ...more });
  const model = new Editor('Model', (text) => { doc.model = text; doc.changed(); }, about(false));
  const props = new Editor('Properties', (text) => { doc.props = text; doc.changed(); }, about(true), true);
  const layOut = (editor, name) => button('Format', async () => { try { await editor.layOut(); status.say('Formatted.'); } catch (e) { status.error(e); } }, { class: 'small', 'aria-label': 'Format the ' + name });
  const problems = el('ul', { class: 'list problems', 'aria-label': 'Problems' });
  const count = el('span', { class: 'soft', role: 'status' });
  const outline = el('ul', { class: 'list outline' });
  const method = choice([['', 'Numerical'], ['exact', 'Exact (rational)'], ['proven', 'Certified'], ['ci', 'Statistical: CI'], ['aci', 'Statistical: ACI'], ['apmc', 'Statistical: APMC'], ['sprt', 'Statistical: SPRT'], ['splitting', 'Statistical: rare events'], ['restart', 'Statistical: rare events, RESTART']], '', () => { options.open = statistical(); });
  const statistical = () => ['ci', 'aci', 'apmc', 'sprt', 'splitting', 'restart'].includes(method.value);
  const setting = (value, props) => { const i = el('input', { type: 'number', min: 0, step: 'any', ...props }); i.value = value; return i; };
  const samples = setting('', { step: 1, placeholder: 'any', 'aria-label': 'Samples' });
  const width = setting('0.01', {});
  const confidence = setting('0.99', { max: 1 });
  const seed = setting('1', { step: 1, 'aria-label': 'Seed' });
  // Two of the three decide the third one.
  samples.addEventListener('input', () => { if (samples.value && width.value && confidence.value) width.value = ''; });
  width.addEventListener('input', () => { if (samples.value && width.value && confidence.value) samples.value = ''; });
  const options = el('details', {}, el('summary', {}, 'Statistical options'),
    el('div', { class: 'row' }, field('Samples', samples), field('Half-width', width), field('Confidence', confidence), field('Seed', seed)));
  let files = [];

  const table = new PropertyTable({
    check: attempt((p) => check(p)),
    why: attempt(async (p) => { await show('explore'); await (await make('explore')).why(p.index); }),
    experiment: attempt(async (p) => { await show('experiments'); (await make('experiments')).choose(p.index); }),
    certify: attempt(async (p) => {
      const found = await check(p, { method: '', accuracy: 'proven', certificate: true });
      if (found?.certificate) download(`${p.name || 'property-' + (p.index + 1)}.cert`, Uint8Array.from(atob(found.certificate), (c) => c.charCodeAt(0)), 'application/octet-stream');
    }),
    simulate: attempt(async (p) => { await show('simulate'); await (await make('simulate')).values(p.index); }),
    edit: attempt((p) => edit(p)),
    copy: (p) => props.replace(p.to, p.to, '\n' + doc.props.slice(p.doc_from, p.to)),
    remove: (p) => props.replace(p.doc_from, p.to + (/^[ \t]*\n?/.exec(doc.props.slice(p.to))[0].length), ''),
  });
  const added = input('', { class: 'mono wide', placeholder: 'P=? [ F s=7 ]' });
  const add = el('form', { class: 'row', onsubmit: (e) => { e.preventDefault(); addProperty(); } }, field('New property', added, 'grow'), el('button', { type: 'submit' }, 'Add'));

  const checkAll = button('Check all', attempt(() => check(null)), { class: 'main', 'aria-keyshortcuts': 'Control+Enter' });
  const openers = el('div', { class: 'row openers' });
  const element = el('div', {},
    openers,
    el('div', { class: 'two' },
      el('div', {}, el('div', { class: 'head' }, el('h2', {}, 'Model'), layOut(model, 'model')), model.element),
      el('div', {},
        el('div', { class: 'head' }, el('h2', {}, 'Properties'), layOut(props, 'properties')), props.element,
        el('section', { class: 'panel side' }, el('div', { class: 'head' }, el('h2', {}, 'Problems'), count), problems),
        el('section', { class: 'panel side' }, el('details', {}, el('summary', {}, 'Outline'), outline)))),
    el('section', { class: 'panel results' },
      el('div', { class: 'row' }, el('h2', {}, 'Results'), field('Method', method), checkAll, table.allDigits), options,
      table.element, add));

  // edit asks for another text of a property.
  async function edit(p) {
    const text = el('textarea', { class: 'mono', rows: 4, 'aria-label': 'The property', spellcheck: 'false' });
    text.value = doc.props.slice(p.from, p.to);
    if (await choose(`Edit ${p.name || p.text}`, ['Change', 'Cancel'], text) === 'Change') props.replace(p.from, p.to, text.value);
  }

  function addProperty() {
    const text = added.value.trim();
    if (!text) return;
    const end = doc.props.length;
    props.replace(end, end, (doc.props && !doc.props.endsWith('\n') ? '\n' : '') + text + (text.endsWith(';') ? '' : ';') + '\n');
    added.value = '';
  }

  let where = null; // the path to save to; null without folders

  function bar() {
    const parts = [
      button('New', attempt(async () => { if (await leave()) { doc.open({ name: 'model.prism', model: '', props: '' }); model.area.focus(); } })),
      menu('Open an example…', doc.examples.map((x, i) => [String(i), `${x.name}: ${x.about}`]), attempt(async (i) => { if (await leave()) doc.open(doc.examples[i]); })),
    ];
    where = null;
    if (inServer && doc.info.folders) {
      const pick = menu('Open a file…', files.map((f) => [f.path, f.path]), attempt(async (path) => { if (await leave(isProperties(path))) await doc.openFile(path); }));
      where = input(doc.saved.model || (files[0]?.path.split('/')[0] || '') + '/' + doc.file, { class: 'mono', 'aria-label': 'Save as' });
      parts.push(pick, where, button('Save', () => save(), { 'aria-keyshortcuts': 'Control+S' }));
    }
    parts.push(button('Tour', attempt(startTour)), button('Load from this computer…', () => upload('.prism,.pm,.nm,.sm,.props,.prop,.pctl,.csl,.jani,.txt', attempt(async (name, text) => {
      if (!await leave(isProperties(name))) return;
      if (isProperties(name)) { doc.props = text; doc.changed(true); } else doc.open({ name, model: text, props: '' });
    }))), button('Download', downloadTexts));
    clear(openers, parts);
  }

  // leave asks what to do with changes that are not saved before other texts take their place, and reports whether to go on.
  async function leave(onlyProperties = false) {
    const changed = onlyProperties ? doc.props !== doc.kept.props && doc.props.trim() : doc.unsaved;
    if (!changed) return true;
    const answer = await choose(`${doc.name} has changes that are not saved.`, ['Save', 'Discard the changes', 'Cancel']);
    if (answer === 'Save') return save();
    if (answer !== 'Discard the changes') return false;
    doc.discard();
    return true;
  }

  // startTour begins the tour, which opens an example.
  async function startTour() { if (await leave()) await tour(); }

  function downloadTexts() {
    download(doc.file, doc.model);
    if (doc.props.trim()) download(stem(doc.file) + '.props', doc.props);
  }

  // save saves to the path of the field, without folders to the computer of who looks. It reports whether that was done.
  async function save(overwrite) {
    if (!where) {
      downloadTexts();
      doc.kept = { model: doc.model, props: doc.props };
      doc.discard();
      doc.changed();
      return true;
    }
    const path = where.value;
    try {
      await doc.save(path, overwrite);
    } catch (e) {
      notSaved(e.path || path, e);
      return false;
    }
    untell();
    status.say(`Saved ${doc.saved.model}${doc.saved.props ? ' and ' + doc.saved.props : ''}.`);
    listFiles();
    return true;
  }

  // notSaved says why a file could not be written, and offers what can be done.
  function notSaved(path, e) {
    const compare = async () => {
      const { text } = await ask('open', { path });
      await showDifference(`${path}: - is the file, + is this page`, text, isProperties(path) ? doc.props : doc.model);
      notSaved(path, e);
    };
    const others = e.kind === 'changed' ? [['Overwrite', () => save(path)], ['Compare', attempt(compare)]] : [];
    refuse({ message: `${path} is not saved: ${e.message}` }, [...others, ['Save as…', async () => { await show('model'); where.focus(); where.select(); }]]);
  }

  const listFiles = attempt(async () => { if (inServer) files = (await ask('files')).files; bar(); });

  function shown(d) {
    const advice = d.advice || [];
    const { revision } = doc;
    const marks = [...d.places, ...advice.map((p) => ({ ...p, mild: true }))];
    model.mark(marks.filter((p) => p.file === doc.file));
    props.mark(marks.filter((p) => p.file !== doc.file));
    const n = d.places.length;
    const missing = d.constants.filter((c) => !c.value && !c.count).map((c) => c.name);
    const counted = (k, one) => (k ? [k === 1 ? '1 ' + one : `${k} ${one}s`] : []);
    count.textContent = [...counted(n, 'problem'), ...counted(advice.length, 'warning')].join(', ') || (d.message || missing.length ? '' : 'None.');
    const line = (p, mild) => el('li', { class: mild ? 'mild' : '' }, button(`${p.file}:${p.line}:${p.column}: ${p.message}`, () => go(p)),
      (d.fixes || []).filter((f) => f.file === p.file && f.line === p.line && f.of === p.message).map((f) => button(f.title, () => fix(f, revision), { class: 'small fix' })));
    clear(problems, d.places.map((p) => line(p, false)),
      missing.map((name) => el('li', { class: 'note' }, button(`${name} needs a value.`, () => doc.dispatchEvent(new CustomEvent('constant', { detail: name }))))),
      d.message && !n ? el('li', { class: 'note' }, d.message) : null, (d.warnings || []).map((w) => el('li', { class: 'note' }, w)), advice.map((p) => line(p, true)));
    clear(outline, d.outline.map((o) => el('li', { class: o.deep ? 'deep' : '' }, button(`${o.kind} ${o.name}`, () => model.go({ line: o.line, column: 1 })))));
    table.set(doc.properties);
    checkAll.disabled = !doc.properties.length;
  }

  // fix makes the changes of a correction.
  function fix(f, revision) { if (revision === doc.revision) for (const e of f.edits) (e.in_props ? props : model).replace(e.from, e.to, e.text); }

  const go = (place) => (place.file === doc.file ? model : props).go(place);

  // question is how to check.
  function question() {
    if (!statistical()) return { accuracy: method.value };
    const given = (i) => (i.value === '' ? 0 : Number(i.value));
    return { method: method.value, samples: given(samples), width: given(width), confidence: given(confidence), seed: given(seed) };
  }

  // check checks one property, or all that have values for their constants, of the texts as they are now. It returns the answer.
  async function check(asked, how = question()) {
    const { properties, places } = await doc.diagnosed();
    if (places.length) throw new Failure({ message: `${places[0].file}:${places[0].line}:${places[0].column}: ${places[0].message}`, places });
    const same = asked && properties.find((p) => p.text === asked.text && p.name === asked.name);
    if (asked && !same) throw new Failure({ message: `There is no property ${asked.text} any more.` });
    if (same) doc.needed(same);
    const which = same ? [same] : properties.filter((p) => !p.error && !p.needs?.length);
    if (!which.length) {
      doc.needed(properties[0]);
      throw new Failure({ message: 'There are no properties to check.' });
    }
    const { revision } = doc;
    const byIndex = new Map(which.map((p) => [p.index, p]));
    const found = new Map(which.map((p) => [p, []]));
    const unfinished = new Set(which);
    const put = (p, more) => table.put(p, { revision, verdicts: found.get(p), running: unfinished.has(p), ...more });
    for (const p of which) put(p);
    // A property has a verdict for each valuation of its constants. They are shown as they come.
    const came = (v) => { const p = byIndex.get(v.index); found.get(p).push(v); put(p); };
    const title = asked ? 'Check ' + (asked.name || asked.text) : 'Check all';
    try {
      const answer = await work(title, (signal, part) => ask('check', { ...doc.source, ...how, select: which.map((p) => p.index) },
        { signal, part: (name, v) => { if (name === 'verdict') came(v); else part(name, v); } }), asked ? 'check ' + asked.text : 'check');
      unfinished.clear();
      for (const p of which) put(p);
      return answer;
    } catch (e) {
      unfinished.clear();
      for (const p of which) if (found.get(p).length) put(p); else put(p, { error: e.name === 'AbortError' ? '' : e.message });
      throw e;
    }
  }

  element.addEventListener('keydown', (e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); checkAll.click(); } });
  keep('results', () => { const now = table.current(); return now.results.length || now.running.length ? now : null; });
  // restore shows the results that were there before the page was loaded again, and offers to begin a check again that was running.
  function restore() {
    const before = takeKept('results');
    if (!before) return;
    const byText = new Map(doc.properties.map((p) => [p.text, p]));
    for (const [text, verdicts] of before.results) if (byText.has(text)) table.put(byText.get(text), { revision: doc.revision, verdicts });
    const ended = before.running.map((text) => byText.get(text)).filter(Boolean);
    if (!ended.length) return;
    tell('A check was running when the page was left. It was ended, and its results so far are in the table.', [['Check again', attempt(() => check(ended.length === 1 ? ended[0] : null))]], false);
  }

  doc.addEventListener('diagnosed', ({ detail }) => shown(detail));
  doc.addEventListener('change', ({ detail }) => {
    if (detail.whole) {
      table.forget(); // the results are of another model
      model.text = doc.model;
      props.text = doc.props;
      bar();
    }
    table.draw(); // greys what is outdated
  });
  model.text = doc.model;
  props.text = doc.props;
  bar();
  listFiles();
  doc.diagnosed().then((d) => { shown(d); restore(); });
  return { element, go, save, tour: startTour };
}
