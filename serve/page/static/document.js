// The model and the properties that the page is about, what of them is saved, and the drafts of what is not.
import { ask, inServer, Failure } from './api.js';
import { attempt } from './status.js';

// windows reports whether all lines of a text end as on Windows; a text that is edited in the page loses that.
const windows = (text) => text.includes('\r\n') && !/(^|[^\r])\n/.test(text);
const withEnds = (text, yes) => yes ? text.replace(/\r?\n/g, '\r\n') : text;
const lines = (text) => text.replace(/\r\n/g, '\n'); // as a text area has them

export const isProperties = (path) => /\.(props|prop|pctl|csl)$/.test(path);
export const stem = (path) => path.replace(/\.[^./]*$/, '');

// definitions splits the values of constants, name=value, at commas that are not in the braces of a list.
const definitions = (text) => Object.fromEntries((text.match(/(?:\{[^}]*\}?|[^,{])+/g) || []).map((d) => d.split(/=(.*)/s).map((x) => x.trim())).filter(([name, value]) => name && value));

const constText = (values) => Object.entries(values).filter(([, value]) => value).map(([name, value]) => `${name}=${value}`).join(',');

// draftKey is where the draft of a model is kept: under the path of its file, or under its name if it is not in the folders.
const draftPrefix = 'draft:';
const draftKey = ({ saved, file }) => draftPrefix + (saved.model || file);

class Document extends EventTarget {
  file = 'model.prism'; model = ''; props = ''; const = '';
  // Where the texts are in the folders of the server, and which version of them.
  saved = {};
  // The texts as they were opened or saved.
  kept = { model: '', props: '' };
  // revision grows with every change of the texts and constants: what was computed before is of an older text.
  revision = 0;
  info = { strategies: [], engines: ['native'] };
  examples = [];
  // What the newest diagnosis says of the texts. Each constant has its name and type, the value that the text gives, and the values that const gives.
  properties = []; labels = []; constants = []; digest = '';
  // The value of a constant with several values for views of one state graph, by name.
  picked = {};

  // given are the values of constants by name: a value, a range low:step:high, or a list in braces.
  get given() { return definitions(this.const); }

  give(name, value) {
    this.const = constText({ ...this.given, [name]: value.includes(',') && !value.startsWith('{') ? `{${value}}` : value });
    this.changed();
  }

  get source() {
    const known = new Map(this.constants.map((c) => [c.name, c]));
    const values = Object.entries(this.given).filter(([name]) => !known.size || (known.get(name) && !known.get(name).value));
    return { file: this.file, model: this.model, props_file: this.file + '.props', props: this.props, const: constText(Object.fromEntries(values)) };
  }

  // single is the source with one value for each constant.
  get single() {
    const one = Object.fromEntries(this.constants.filter((c) => c.count > 0).map((c) => [c.name, c.count > 1 ? this.pick(c) : this.given[c.name].replace(/^\{|\}$/g, '')]));
    return { ...this.source, const: constText(one) };
  }

  pick(c) { return c.values.includes(this.picked[c.name]) ? this.picked[c.name] : c.values[0]; }

  choose(name, value) {
    this.picked = { ...this.picked, [name]: value };
    this.dispatchEvent(new CustomEvent('picked'));
  }

  // needed throws an error if a constant of the model, or one that a property needs, has no value.
  needed(property) {
    const names = this.constants.filter((c) => !c.props && !c.value && !c.count).map((c) => c.name);
    const missing = [...new Set([...names, ...(property?.needs || [])])];
    if (missing.length) throw new Failure({ message: `${missing.join(' and ')} ${missing.length > 1 ? 'need values' : 'needs a value'}.`, constants: missing });
  }

  get unsaved() { return lines(this.model) !== lines(this.kept.model) || lines(this.props) !== lines(this.kept.props); }

  // name says which file a draft is of.
  get name() { return this.saved.model || this.file; }

  // begin opens what this tab had, or the first example. A draft that was not saved when a browser ended is offered.
  async begin() {
    this.examples = (await ask('examples')).examples;
    const here = readStore(sessionStorage, 'document');
    if (here?.model) { this.set(here); return; }
    const drafts = Object.keys(localStorage).filter((key) => key.startsWith(draftPrefix)).map((key) => readStore(localStorage, key)).filter((d) => d?.model);
    this.open(this.examples[0]);
    this.offer(drafts.sort((a, b) => b.when - a.when)[0]);
  }

  // open shows texts that are saved, or that come with the page. If there is a draft of the file, it is offered.
  open({ name, file, model, props, const: constants = '', saved = {} }) {
    this.set({ file: file || name, model, props, const: constants, saved, kept: { model, props } });
    this.offer(readStore(localStorage, draftKey(this)));
  }

  // offer tells the page of a draft with other texts. Until it is restored or discarded, no newer draft of the file takes its place.
  offer(draft) {
    this.offered = null;
    if (!draft || (draft.file === this.file && lines(draft.model) === lines(this.model) && lines(draft.props) === lines(this.props))) return;
    this.offered = draft;
    this.dispatchEvent(new CustomEvent('draft', { detail: draft }));
  }

  restore(draft) { this.offered = null; this.set(draft); }

  // discard forgets a draft, by default that of the texts that are open.
  discard(draft = this) {
    this.offered = null;
    localStorage.removeItem(draftKey(draft));
  }

  set({ file, model, props, const: constants = '', saved = {}, kept = { model: '', props: '' } }) {
    Object.assign(this, { file, model, props, const: constants, saved, kept, properties: [], constants: [], picked: {} });
    this.changed(true);
  }

  // changed is called after every change. whole says that other texts are there, and not the same ones edited.
  changed(whole = false) {
    this.revision++;
    this.diagnosis = null;
    clearTimeout(this.timer);
    this.timer = setTimeout(attempt(() => this.diagnosed()), whole ? 0 : 180);
    const now = { file: this.file, model: this.model, props: this.props, const: this.const, saved: this.saved, kept: this.kept };
    writeStore(sessionStorage, 'document', now);
    if (this.unsaved && !this.offered) writeStore(localStorage, draftKey(this), { ...now, when: Date.now() });
    this.dispatchEvent(new CustomEvent('change', { detail: { whole } }));
  }

  // diagnosed returns what is known of the texts as they are now.
  diagnosed() {
    clearTimeout(this.timer);
    const { revision } = this;
    this.diagnosis ??= ask('diagnose', { ...this.source, const: this.const }).then((d) => {
      if (revision !== this.revision) return d;
      Object.assign(this, { constants: d.constants, type: d.type, labels: d.labels || [], digest: d.digest || '' });
      if (d.properties.length || !d.places.length) this.properties = d.properties;
      this.dispatchEvent(new CustomEvent('diagnosed', { detail: d }));
      return d;
    }, (e) => {
      if (revision === this.revision) this.diagnosis = null;
      throw e;
    });
    return this.diagnosis;
  }

  // openFile opens a model of the folders with the properties beside it, or properties for the model that is open.
  async openFile(path) {
    const main = await ask('open', { path });
    if (isProperties(path)) { this.openProperties(path, main); return; }
    const saved = { model: path, modelVersion: main.version, modelWindows: windows(main.text) };
    const there = new Set((await ask('files')).files.map((f) => f.path));
    const beside = [path + '.props', ...['.props', '.prop', '.pctl', '.csl'].map((ending) => stem(path) + ending)].find((p) => there.has(p));
    let text = '';
    if (beside) {
      const opened = await ask('open', { path: beside });
      Object.assign(saved, { props: beside, propsVersion: opened.version, propsWindows: windows(opened.text) });
      text = opened.text;
    }
    this.open({ file: path.split('/').pop(), model: main.text, props: text, saved });
  }

  openProperties(path, { text, version }) {
    this.props = text;
    this.kept = { ...this.kept, props: text };
    this.saved = { ...this.saved, props: path, propsVersion: version, propsWindows: windows(text) };
    this.changed(true);
  }

  // save writes the model to a path, and the properties beside it. overwrite is the path of a file that may have changed meanwhile. An error has the path
  // of the file that could not be written.
  async save(path, overwrite) {
    const { model, props, saved } = this;
    // Under another name they are other files: those of the model before stay as they are.
    const before = path === saved.model ? saved : { modelWindows: saved.modelWindows, propsWindows: saved.propsWindows };
    const version = await write(path, withEnds(model, saved.modelWindows), before.modelVersion, overwrite);
    this.discard();
    this.saved = { ...before, model: path, modelVersion: version };
    this.kept = { ...this.kept, model };
    this.file = path.split('/').pop();
    if (props.trim() || before.props) {
      const beside = before.props || stem(path) + '.props';
      const version = await write(beside, withEnds(props, saved.propsWindows), before.propsVersion, overwrite);
      this.saved = { ...this.saved, props: beside, propsVersion: version };
    }
    this.kept = { ...this.kept, props };
    this.discard();
    this.changed();
  }
}

// write saves a text over a version of a file and returns the new version.
async function write(path, text, version = '', overwrite) {
  try {
    if (path === overwrite) version = await ask('open', { path }).then((now) => now.version, () => '');
    return (await ask('save', { path, text, version })).version;
  } catch (e) {
    e.path = path;
    throw e;
  }
}

function readStore(store, key) {
  try { return JSON.parse(store.getItem(key)); } catch { return null; }
}

function writeStore(store, key, value) {
  try { store.setItem(key, JSON.stringify(value)); } catch { /* too large to keep, or not allowed */ }
}

export const doc = new Document();
export { inServer };
