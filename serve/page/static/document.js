// The model and the properties that the page is about.
import { ask, inServer } from './api.js';

// windows reports whether all lines of a text end as on Windows; a text that is edited in the page loses that.
const windows = (text) => text.includes('\r\n') && !/(^|[^\r])\n/.test(text);
const withEnds = (text, yes) => yes ? text.replace(/\r?\n/g, '\r\n') : text;

class Document extends EventTarget {
  file = 'model.prism'; model = ''; props = ''; const = '';
  // Where the texts are in the folders of the server, and which version of them.
  saved = {};
  info = { strategies: [], engines: ['native'] };
  examples = [];

  get source() {
    return { file: this.file, model: this.model, props_file: this.file + '.props', props: this.props, const: this.const };
  }

  async begin() {
    this.examples = (await ask('examples')).examples;
    let kept = null;
    try { kept = JSON.parse(sessionStorage.getItem('document')); } catch { /* the page begins anew */ }
    this.set(kept?.model ? kept : this.examples[0]);
  }

  set({ name, file, model, props, const: constants = '', saved = {} }) {
    Object.assign(this, { file: file || name, model, props, const: constants, saved });
    this.changed(true);
  }

  // whole says that other texts are there, and not the same ones edited.
  changed(whole = false) {
    try { sessionStorage.setItem('document', JSON.stringify({ file: this.file, model: this.model, props: this.props, const: this.const, saved: this.saved })); } catch { /* too large to keep */ }
    this.dispatchEvent(new CustomEvent('change', { detail: { whole } }));
  }

  async open(path) {
    const main = await ask('open', { path });
    const props = /\.(props|pctl|csl)$/.test(path);
    if (props) {
      this.props = main.text;
      this.saved = { ...this.saved, props: path, propsVersion: main.version, propsWindows: windows(main.text) };
      this.changed(true);
      return;
    }
    const saved = { model: path, modelVersion: main.version, modelWindows: windows(main.text) };
    let text = '';
    const stem = path.replace(/\.[^.]*$/, '');
    for (const beside of [path + '.props', ...['.props', '.prop', '.pctl', '.csl'].map(ending => stem + ending)]) {
      try {
        const opened = await ask('open', { path: beside });
        Object.assign(saved, { props: beside, propsVersion: opened.version, propsWindows: windows(opened.text) });
        text = opened.text;
        break;
      } catch { /* there is none of that name */ }
    }
    this.set({ file: path.split('/').pop(), model: main.text, props: text, saved });
  }

  async save(path) {
    const model = await ask('save', { path, text: withEnds(this.model, this.saved.modelWindows), version: path === this.saved.model ? this.saved.modelVersion : '' });
    this.saved = { ...this.saved, model: path, modelVersion: model.version };
    this.file = path.split('/').pop();
    if (this.props.trim()) {
      const beside = this.saved.props || path + '.props';
      const props = await ask('save', { path: beside, text: withEnds(this.props, this.saved.propsWindows), version: beside === this.saved.props ? this.saved.propsVersion : '' });
      this.saved = { ...this.saved, props: beside, propsVersion: props.version };
    }
    this.changed();
  }
}

export const doc = new Document();
export { inServer };
