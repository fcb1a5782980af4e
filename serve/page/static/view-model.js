// The text of a model and its properties, what is wrong with them, and what their values are.
import { el, clear, button, field, choice, input, number, interval, download, upload } from './dom.js';
import { ask, inServer } from './api.js';
import { doc } from './document.js';
import { status, work, attempt } from './status.js';
import { Editor } from './editor.js';

export function create() {
  const about = (inProps) => (name, more) => ask(name, { ...doc.source, in_props: inProps, ...more });
  const model = new Editor('Model', (text) => { doc.model = text; doc.changed(); }, about(false));
  const props = new Editor('Properties', (text) => { doc.props = text; doc.changed(); }, about(true), true);
  const layOut = (editor, name) => button('Lay out', async () => { try { await editor.layOut(); status.say('Laid out.'); } catch (e) { status.error(e); } }, { class: 'small', 'aria-label': 'Lay out the ' + name });
  const problems = el('ul', { class: 'list problems', 'aria-label': 'Problems' });
  const count = el('span', { class: 'soft', role: 'status' });
  const outline = el('ul', { class: 'list outline' });
  const list = el('ul', { class: 'list props' });
  const constants = input('', { class: 'wide mono', placeholder: 'N=5,p=0.1' });
  constants.addEventListener('input', () => { doc.const = constants.value.trim(); doc.changed(); });
  const method = choice([['', 'all states'], ['exact', 'all states, fractions'], ['ci', 'sampling']], '', null);
  const results = new Map();
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

  function bar() {
    const examples = choice([['', 'Open an example…'], ...doc.examples.map((x, i) => [String(i), `${x.name}: ${x.about}`])], '', (i) => {
      if (i === '') return;
      doc.set(doc.examples[i]);
      examples.value = '';
    }, { 'aria-label': 'Open an example' });
    const parts = [examples];
    if (inServer && doc.info.folders) {
      const pick = choice([['', 'Open a file…'], ...files.map((f) => [f.path, f.path])], '', attempt(async (path) => {
        if (path) await doc.open(path);
        pick.value = '';
      }), { 'aria-label': 'Open a file' });
      const where = input(doc.saved.model || (files[0]?.path.split('/')[0] || '') + '/' + doc.file, { class: 'mono', 'aria-label': 'Save as' });
      parts.push(pick, where, button('Save', attempt(async () => { await doc.save(where.value); status.say('Saved ' + where.value + '.'); list_files(); })));
    }
    parts.push(button('Load from this computer…', () => upload('.prism,.pm,.nm,.sm,.props,.prop,.pctl,.csl,.jani,.txt', (name, text) => {
      if (/\.(props|pctl|csl)$/.test(name)) { doc.props = text; doc.changed(true); } else doc.set({ name, model: text, props: '' });
    })), button('Download', () => { download(doc.file, doc.model); if (doc.props.trim()) download(doc.file + '.props', doc.props); }));
    clear(openers, parts);
  }

  const list_files = attempt(async () => { if (inServer) files = (await ask('files')).files; bar(); });

  let asked = 0;
  let timer;
  function diagnose(whole) {
    clearTimeout(timer);
    timer = setTimeout(attempt(async () => {
      const mine = ++asked;
      const d = await ask('diagnose', doc.source);
      if (mine === asked) shown(d);
    }), whole ? 0 : 180);
  }

  function shown(d) {
    const inModel = d.places.filter((p) => p.file === doc.file);
    const inProps = d.places.filter((p) => p.file !== doc.file);
    model.mark(inModel);
    props.mark(inProps);
    const n = d.places.length;
    count.textContent = n ? (n === 1 ? '1 problem' : n + ' problems') : 'None.';
    clear(problems, d.places.map((p) => el('li', {}, button(`${p.file}:${p.line}:${p.column}: ${p.message}`, () => (p.file === doc.file ? model : props).go(p)))),
      d.message && !n ? el('li', { class: 'note' }, d.message) : null, (d.warnings || []).map((w) => el('li', { class: 'note' }, w)));
    clear(outline, d.outline.map((o) => el('li', { class: o.deep ? 'deep' : '' }, button(`${o.kind} ${o.name}`, () => model.go({ line: o.line, column: 1 })))));
    if (d.properties.length || !n) shownProperties(d.properties);
    constants.placeholder = d.undefined.length ? d.undefined.map((c) => c + '=…').join(',') : 'none is open';
    checkAll.disabled = !d.properties.length;
    doc.properties = d.properties;
    doc.type = d.type;
    doc.labels = d.labels || [];
    doc.dispatchEvent(new CustomEvent('diagnosed'));
  }

  function shownProperties(properties) {
    clear(list, properties.length ? properties.map((p) => {
      const out = results.get(p.text) || el('div', { 'aria-live': 'polite' });
      results.set(p.text, out);
      return el('li', {}, el('div', { class: 'ask' },
        el('span', {}, p.name ? el('strong', {}, p.name + ' ') : null, el('code', {}, p.text)),
        button('Check', attempt(() => check(p)), { class: 'small', 'aria-label': 'Check ' + (p.name || p.text) })),
      p.error ? el('div', { class: 'error' }, p.error) : out);
    }) : el('li', { class: 'soft' }, 'Write properties on the left, such as P=? [ F s=7 ];'));
  }

  async function check(p) {
    const question = { ...doc.source, method: method.value === 'ci' ? 'ci' : '', exact: method.value === 'exact' };
    if (p) question.index = p.index;
    if (question.method) Object.assign(question, { width: 0.01, seed: 1 });
    const which = p ? [p] : doc.properties;
    try {
      const { verdicts } = await work(p ? 'Check ' + (p.name || p.text) : 'Check all', (signal, part) => ask('check', question, { signal, part }));
      for (const q of which) {
        const mine = verdicts.filter((v) => !p ? v.property === q.text.replace(/^"[^"]*": /, '') || v.property === q.text || (q.name && v.name === q.name) : true);
        clear(results.get(q.text), mine.map(verdict));
      }
    } catch (e) {
      if (e.name === 'AbortError') throw e;
      for (const q of which) clear(results.get(q.text), el('div', { class: 'error' }, e.message));
      throw e;
    }
  }

  doc.addEventListener('change', ({ detail }) => {
    results.clear(); // they are of another text
    if (detail.whole) {
      clear(list);
      model.text = doc.model;
      props.text = doc.props;
      constants.value = doc.const;
      bar();
    }
    diagnose(detail.whole);
  });
  model.text = doc.model;
  props.text = doc.props;
  constants.value = doc.const;
  bar();
  list_files();
  diagnose(true);
  return { element };
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
