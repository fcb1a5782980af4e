// The text of a model and its properties, what is wrong with them, and what their values are.
import { el, clear, button, field, choice, input, number, interval, download, upload } from './dom.js';
import { ask, inServer, Failure } from './api.js';
import { doc, isProperties, stem } from './document.js';
import { status, work, attempt, refuse, untell } from './status.js';
import { choose, showDifference } from './dialog.js';
import { errorBox } from './current.js';
import { Editor } from './editor.js';

export function create({ show }) {
  const about = (inProps) => (name, more) => ask(name, { ...doc.source, in_props: inProps, ...more });
  const model = new Editor('Model', (text) => { doc.model = text; doc.changed(); }, about(false));
  const props = new Editor('Properties', (text) => { doc.props = text; doc.changed(); }, about(true), true);
  const layOut = (editor, name) => button('Format', async () => { try { await editor.layOut(); status.say('Formatted.'); } catch (e) { status.error(e); } }, { class: 'small', 'aria-label': 'Format the ' + name });
  const problems = el('ul', { class: 'list problems', 'aria-label': 'Problems' });
  const count = el('span', { class: 'soft', role: 'status' });
  const outline = el('ul', { class: 'list outline' });
  const list = el('ul', { class: 'list props' });
  const constants = input('', { class: 'wide mono', placeholder: 'N=5,p=0.1' });
  constants.addEventListener('input', () => { doc.const = constants.value.trim(); doc.changed(); });
  const method = choice([['', 'Numerical'], ['exact', 'Exact (rational)'], ['ci', 'Statistical']], '', null);
  const results = new Map(); // by the text of the property: {revision, content}
  let files = [];

  const checkAll = button('Check all', attempt(() => check(null)), { class: 'main' });
  const openers = el('div', { class: 'row openers' });
  const element = el('div', {},
    openers,
    el('div', { class: 'two' },
      el('div', {},
        el('div', { class: 'head' }, el('h2', {}, 'Model'), layOut(model, 'model')), model.element,
        el('div', { class: 'head under' }, el('h2', {}, 'Properties'), layOut(props, 'properties')), props.element),
      el('div', {},
        el('section', { class: 'panel' },
          el('div', { class: 'row' }, field('Constants', constants, 'grow'), field('Method', method), checkAll),
          el('h2', {}, 'Properties'), list),
        el('section', { class: 'panel' }, el('h2', {}, 'Problems'), count, problems),
        el('section', { class: 'panel' }, el('h2', {}, 'Outline'), outline))));

  let where = null; // the path to save to; null without folders

  function bar() {
    const examples = choice([['', 'Open an example…'], ...doc.examples.map((x, i) => [String(i), `${x.name}: ${x.about}`])], '', attempt(async (i) => {
      examples.value = '';
      if (i !== '' && await leave()) doc.open(doc.examples[i]);
    }), { 'aria-label': 'Open an example' });
    const parts = [examples];
    where = null;
    if (inServer && doc.info.folders) {
      const pick = choice([['', 'Open a file…'], ...files.map((f) => [f.path, f.path])], '', attempt(async (path) => {
        pick.value = '';
        if (path && await leave(isProperties(path))) await doc.openFile(path);
      }), { 'aria-label': 'Open a file' });
      where = input(doc.saved.model || (files[0]?.path.split('/')[0] || '') + '/' + doc.file, { class: 'mono', 'aria-label': 'Save as' });
      parts.push(pick, where, button('Save', () => save(), { 'aria-keyshortcuts': 'Control+S' }));
    }
    parts.push(button('Load from this computer…', () => upload('.prism,.pm,.nm,.sm,.props,.prop,.pctl,.csl,.jani,.txt', attempt(async (name, text) => {
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

  let diagnosis = null; // of the newest text, or being made
  let timer;
  function diagnose(soon) {
    clearTimeout(timer);
    diagnosis = null;
    timer = setTimeout(attempt(diagnosed), soon ? 0 : 180);
  }

  // diagnosed returns what is known of the texts as they are now, and shows it.
  function diagnosed() {
    clearTimeout(timer);
    const { revision } = doc;
    diagnosis ??= ask('diagnose', doc.source).then((d) => {
      if (revision === doc.revision) shown(d);
      return d;
    });
    return diagnosis;
  }

  function shown(d) {
    const inModel = d.places.filter((p) => p.file === doc.file);
    const inProps = d.places.filter((p) => p.file !== doc.file);
    model.mark(inModel);
    props.mark(inProps);
    const n = d.places.length;
    count.textContent = n ? (n === 1 ? '1 problem' : n + ' problems') : d.message ? '' : 'None.';
    clear(problems, d.places.map((p) => el('li', {}, button(`${p.file}:${p.line}:${p.column}: ${p.message}`, () => go(p)))),
      d.message && !n ? el('li', { class: 'note' }, d.message) : null, (d.warnings || []).map((w) => el('li', { class: 'note' }, w)));
    clear(outline, d.outline.map((o) => el('li', { class: o.deep ? 'deep' : '' }, button(`${o.kind} ${o.name}`, () => model.go({ line: o.line, column: 1 })))));
    if (d.properties.length || !n) shownProperties(d.properties);
    constants.placeholder = d.undefined.length ? d.undefined.map((c) => c + '=…').join(',') : 'all constants have values';
    checkAll.disabled = !d.properties.length;
    doc.properties = d.properties;
    doc.type = d.type;
    doc.labels = d.labels || [];
    doc.dispatchEvent(new CustomEvent('diagnosed'));
  }

  const go = (place) => (place.file === doc.file ? model : props).go(place);

  function resultOf(text) {
    if (!results.has(text)) results.set(text, { revision: null, content: el('div', { 'aria-live': 'polite' }) });
    return results.get(text);
  }

  function shownProperties(properties) {
    clear(list, properties.length ? properties.map((p) => el('li', {}, el('div', { class: 'ask' },
      el('span', {}, p.name ? el('strong', {}, p.name + ' ') : null, el('code', {}, p.text)),
      button('Check', attempt(() => check(p)), { class: 'small', 'aria-label': 'Check ' + (p.name || p.text) })),
    p.error ? el('div', { class: 'error' }, p.error) : resultOf(p.text).content))
      : el('li', { class: 'soft' }, 'Write properties on the left, such as P=? [ F s=7 ];'));
  }

  // check checks one property, or all, of the texts as they are now.
  async function check(asked) {
    const { properties, places } = await diagnosed();
    if (places.length) throw new Failure({ message: `${places[0].file}:${places[0].line}:${places[0].column}: ${places[0].message}`, places });
    const which = asked ? properties.filter((p) => p.text === asked.text && p.name === asked.name).slice(0, 1) : properties;
    if (!which.length) throw new Failure({ message: asked ? `There is no property ${asked.text} any more.` : 'There are no properties to check.' });
    const question = { ...doc.source, method: method.value === 'ci' ? 'ci' : '', exact: method.value === 'exact' };
    if (asked) question.index = which[0].index;
    if (question.method) Object.assign(question, { width: 0.01, seed: 1 });
    const { revision } = doc;
    const put = (p, ...content) => {
      const result = resultOf(p.text);
      result.revision = revision;
      clear(result.content, ...content);
      outdate();
    };
    // A property has a verdict for every valuation of its constants. They are shown as they come.
    const found = new Map(which.map((p) => [p, []]));
    const isOf = (v, p) => which.length === 1 || v.property === p.text.replace(/^"[^"]*": /, '') || v.property === p.text || (p.name && v.name === p.name);
    const came = (v) => {
      for (const [p, verdicts] of found) {
        if (!isOf(v, p)) continue;
        if (verdicts.length) resultOf(p.text).content.append(verdict(v));
        else put(p, verdict(v));
        verdicts.push(v);
      }
    };
    try {
      const { verdicts } = await work(asked ? 'Check ' + (asked.name || asked.text) : 'Check all',
        (signal, part) => ask('check', question, { signal, part: (name, v) => { if (name === 'verdict') came(v); else part(name, v); } }), asked ? 'check ' + asked.text : 'check');
      for (const p of which) put(p, ...verdicts.filter((v) => isOf(v, p)).map(verdict));
    } catch (e) {
      for (const [p, verdicts] of found) if (!verdicts.length && e.name !== 'AbortError') put(p, errorBox(e));
      throw e;
    }
  }

  // outdate greys the results of older texts.
  function outdate() {
    for (const { revision, content } of results.values()) {
      content.classList.toggle('outdated', revision !== null && revision !== doc.revision);
      content.title = revision !== null && revision !== doc.revision ? 'This is of an older text or other constants.' : '';
    }
  }

  doc.addEventListener('change', ({ detail }) => {
    if (detail.whole) {
      results.clear(); // they are of another model
      clear(list);
      model.text = doc.model;
      props.text = doc.props;
      constants.value = doc.const;
      bar();
    }
    outdate();
    diagnose(detail.whole);
  });
  model.text = doc.model;
  props.text = doc.props;
  constants.value = doc.const;
  bar();
  listFiles();
  diagnose(true);
  return { element, go, save };
}

// verdict is what an engine says of a property.
export function verdict(v) {
  const constants = v.constants && Object.keys(v.constants).length ? el('span', { class: 'chip' }, Object.entries(v.constants).map(([k, x]) => `${k}=${x}`).join(', ')) : null;
  if (v.error && v.value === undefined) return el('div', { class: 'error' }, constants, v.error.message);
  const value = v.fraction ? `${v.fraction} = ${number(v.value, 10)}` : typeof v.value === 'boolean' ? (v.value ? '✓ true' : '✕ false') : Array.isArray(v.value) ? JSON.stringify(v.value) : typeof v.value === 'object' ? JSON.stringify(v.value) : number(v.value, 10);
  const between = v.lower !== undefined && v.upper !== undefined && !v.fraction && typeof v.value !== 'boolean' ? ` in ${interval(v.lower, v.upper)}` : '';
  return el('div', {}, constants, el('span', { class: 'value ' + (v.value === true ? 'good' : v.value === false ? 'bad' : '') }, value),
    el('span', { class: 'soft' }, ` ${v.accuracy || ''}${between}${v.confidence ? ` with confidence ${number(v.confidence)}` : ''}${v.samples ? `, ${v.samples} samples` : ''}${v.states ? `, ${v.states.toLocaleString('en')} states` : ''}`),
    v.error ? el('div', { class: 'error' }, v.error.message) : null,
    (v.warnings || []).map((w) => el('div', { class: 'note' }, w)));
}
