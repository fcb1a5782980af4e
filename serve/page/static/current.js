// What a view shows belongs to one text and its constants. When they change it is greyed, and says so; what went wrong is said where one looks.
import { el, clear, button } from './dom.js';
import { ask } from './api.js';
import { doc } from './document.js';
import { work } from './status.js';

// Current wraps the content of a view that was computed. renew computes it again. The content of a view with single is of one value for each constant.
export class Current {
  constructor(content, renew, single = false) {
    this.single = single;
    this.content = content;
    this.renew = renew;
    this.message = el('div', { 'aria-live': 'polite' });
    this.element = el('div', {}, this.message, content);
    this.of = null; // the file and the key of the text that the content is of
    for (const event of ['change', 'diagnosed', 'picked']) doc.addEventListener(event, () => this.look());
    this.look();
  }

  // compute runs f(signal, part, of) as a job for a purpose. of is the text that the result is about, for done. An error is shown above the content.
  async compute(title, purpose, f, quiet = false) {
    let of = { file: doc.file, key: this.key };
    try {
      await doc.diagnosed();
      of = { file: doc.file, key: this.key };
      return await work(title, (signal, part) => f(signal, part, of), purpose, quiet);
    } catch (e) {
      this.failed(of, e);
      throw e;
    }
  }

  // answer asks a question about the text as it is now. It returns the text and the answer.
  answer(title, purpose, name, question, quiet = false) {
    return this.compute(title, purpose, async (signal, part, of) => {
      doc.needed(doc.properties.find((p) => p.index === question.property));
      return [of, await ask(name, { ...doc.single, ...question }, { signal, part })];
    }, quiet);
  }

  get key() { return this.single ? `${doc.revision} ${doc.single.const}` : String(doc.revision); }

  get outdated() { return this.of?.key !== this.key; }

  done(of) {
    this.of = of;
    this.failure = null;
    this.look();
  }

  // stale greys the content because something else is asked for, of whatever text.
  stale() {
    if (this.of) this.of = { ...this.of, key: null };
    this.look();
  }

  // forget removes the error that is shown.
  forget() {
    this.failure = null;
    this.look();
  }

  failed(of, e) {
    if (e?.name === 'AbortError') return;
    this.failure = { of, e };
    this.look();
  }

  look() {
    const failed = this.failure?.of.key === this.key ? this.failure.e : null;
    const old = this.of && this.outdated;
    this.content.classList.toggle('outdated', !!old);
    this.content.inert = !!old;
    clear(this.message,
      failed ? errorBox(failed) : null,
      old ? el('div', { class: 'note row' }, el('span', {}, this.of.file === doc.file ? 'This is of an older text or question.' : `This is of ${this.of.file}.`), button('Compute again', this.renew, { class: 'small' })) : null);
  }
}

// errorBox shows an error with a button for each place of a text, and for each constant without a value.
export function errorBox(e) {
  return el('div', { class: 'error' }, e.places?.length
    ? e.places.map((p) => button(`${p.file}:${p.line}:${p.column}: ${p.message}`, () => doc.dispatchEvent(new CustomEvent('go', { detail: p })), { class: 'small place' }))
    : e.message,
  (e.constants || []).map((name) => button(`Give ${name} a value`, () => doc.dispatchEvent(new CustomEvent('constant', { detail: name })), { class: 'small' })));
}
