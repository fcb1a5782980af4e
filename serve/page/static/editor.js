// An editor of PRISM text: a text area, with the coloured text behind it.
import { el, clear, fresh } from './dom.js';

const keywords = new Set(('A bool clock const ctmc C double dtmc E endinit endinvariant endmodule endobservables endrewards endsystem F false filter formula func G global I init int invariant label max mdp min module observable observables of P Pmax Pmin pomdp popta probabilistic prob pta R rate rewards Rmax Rmin S smg stochastic system true U W X ceil floor log mod pow round').split(' '));
const token = /(\/\/[^\n]*)|("[^"\n]*")|(\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)|([A-Za-z_]\w*)/g;
const most = 200000;

export class Editor {
  constructor(name, onchange, low = false) {
    const id = fresh('editor');
    this.back = el('pre', { 'aria-hidden': 'true' });
    this.area = el('textarea', { id, spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off', wrap: 'off', 'aria-label': name });
    this.gutter = el('div', { class: 'gutter', 'aria-hidden': 'true' });
    this.code = el('div', { class: 'code' }, this.back, this.area);
    this.element = el('div', { class: low ? 'editor low' : 'editor' }, this.gutter, this.code);
    this.marks = [];
    this.area.addEventListener('input', () => { this.marks = []; this.paint(); onchange(this.area.value); });
    this.area.addEventListener('scroll', () => this.follow());
    this.area.addEventListener('keydown', (e) => this.key(e));
  }

  get text() { return this.area.value; }

  set text(value) {
    if (this.area.value !== value) this.area.value = value;
    this.marks = [];
    this.paint();
  }

  // Tab leaves the editor, as everywhere; Enter keeps the indentation.
  key(e) {
    if (e.key !== 'Enter' || e.ctrlKey || e.metaKey) return;
    const before = this.area.value.slice(0, this.area.selectionStart);
    const indent = /[ \t]*/.exec(before.slice(before.lastIndexOf('\n') + 1))[0];
    if (!indent) return;
    e.preventDefault();
    document.execCommand('insertText', false, '\n' + indent);
  }

  follow() {
    this.back.scrollTop = this.area.scrollTop;
    this.back.scrollLeft = this.area.scrollLeft;
    this.gutter.scrollTop = this.area.scrollTop;
  }

  // mark shows problems; places count lines and bytes from 1.
  mark(places) { this.marks = places; this.paint(); }

  // at is where a place is in the text.
  at({ line, column }) {
    const lines = this.area.value.split('\n');
    let start = 0;
    for (let i = 0; i < Math.min(line - 1, lines.length); i++) start += lines[i].length + 1;
    const bytes = new TextEncoder().encode(lines[line - 1] || '').slice(0, column - 1);
    return start + new TextDecoder().decode(bytes).length;
  }

  go(place) {
    const at = this.at(place);
    this.area.focus();
    this.area.setSelectionRange(at, at);
    this.area.scrollTop = Math.max(0, (place.line - 5) * 20);
    this.follow();
  }

  paint() {
    const text = this.area.value;
    const plain = text.length > most;
    this.code.classList.toggle('plain', plain);
    this.number(text);
    if (plain) { clear(this.back); return; }
    const wrong = this.marks.map((m) => this.at(m)).sort((a, b) => a - b);
    const out = document.createDocumentFragment();
    let from = 0;
    const put = (to, cls) => {
      // A problem begins within this part, or at it: its word is underlined.
      while (from < to) {
        const next = wrong.find((w) => w >= from && w < to);
        if (next === undefined) { span(text.slice(from, to), cls); from = to; return; }
        if (next > from) span(text.slice(from, next), cls);
        const word = Math.max(1, /^\w*/.exec(text.slice(next, to))[0].length);
        span(text.slice(next, next + word), (cls || '') + ' wrong');
        from = next + word;
      }
    };
    const span = (part, cls) => { if (cls) out.append(el('span', { class: cls }, part)); else out.append(part); };
    for (const m of text.matchAll(token)) {
      put(m.index);
      put(m.index + m[0].length, m[1] ? 'co' : m[2] ? 'st' : m[3] ? 'nu' : keywords.has(m[4]) ? 'kw' : '');
    }
    put(text.length);
    out.append('\n ');
    this.back.replaceChildren(out);
    this.follow();
  }

  number(text) {
    const bad = new Set(this.marks.map((m) => m.line));
    const n = text.split('\n').length;
    const out = document.createDocumentFragment();
    let run = '';
    for (let i = 1; i <= n; i++) {
      if (!bad.has(i)) { run += i + '\n'; continue; }
      out.append(run, el('span', { class: 'mark' }, '✕' + i + '\n'));
      run = '';
    }
    out.append(run, '\n');
    this.gutter.replaceChildren(out);
  }
}
