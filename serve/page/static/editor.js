// An editor of PRISM text: a text area, with the coloured text behind it.
import { el, clear, fresh } from './dom.js';

// What the numbers of the answer to "colours" are, as classes.
const colours = ['co', 'kw', 'nu', 'cn', 'fo', 'st', 'ac', 'mo'];
// Of a longer text only what one sees, and some lines around that, is painted and asked for.
const whole = 30000;
const around = 60;

export class Editor {
  // ask(question, more) asks about the text of this editor.
  constructor(name, onchange, ask, low = false) {
    const id = fresh('editor');
    this.back = el('pre', { 'aria-hidden': 'true' });
    this.words = el('ul', { class: 'words', role: 'listbox', id: fresh('words'), 'aria-label': 'What can stand here', hidden: true });
    this.tip = el('div', { class: 'words tip', role: 'status', hidden: true });
    this.area = el('textarea', { id, spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off', wrap: 'off', 'aria-label': name, 'aria-controls': this.words.id,
      'aria-description': 'Control and space: what can stand here; Control and I: what this is; Shift, Alt and F: format; Control and Enter: check' });
    this.numbers = el('div');
    this.gutter = el('div', { class: 'gutter', 'aria-hidden': 'true' }, this.numbers);
    this.code = el('div', { class: 'code' }, this.back, this.area, this.words, this.tip);
    this.element = el('div', { class: low ? 'editor low' : 'editor' }, this.gutter, this.code);
    this.marks = [];
    this.parts = []; // those of the text that have a colour: where each begins and ends, and which
    this.coloured = ''; // the text that they are of
    this.covered = null; // the lines of a long text that they are of
    this.begins = [0]; // where lines begin
    this.painted = [0, 0]; // the lines that are
    this.ask = ask;
    this.area.addEventListener('input', (e) => {
      this.marks = [];
      this.split();
      this.moveParts();
      this.paint();
      onchange(this.area.value);
      this.colour();
      this.close();
      if (e.inputType === 'insertText' && /\w\w$/.test(this.before())) this.soon(() => this.complete());
    });
    this.area.addEventListener('scroll', () => { this.look(); this.close(); });
    new ResizeObserver(() => { if (this.long) this.look(); }).observe(this.area);
    addEventListener('beforeprint', () => { if (this.long) this.paint(true); });
    addEventListener('afterprint', () => { if (this.long) this.paint(); });
    this.area.addEventListener('keydown', (e) => this.key(e));
    this.area.addEventListener('blur', () => this.close());
    this.area.addEventListener('mousemove', (e) => { if (!this.tip.hidden) this.close(); const at = this.under(e); if (at !== null) this.soon(() => this.hover(at), 400); });
    this.area.addEventListener('mouseleave', () => { clearTimeout(this.timer); this.tip.hidden = true; });
  }

  before() { return this.area.value.slice(0, this.area.selectionStart); }

  soon(f, pause = 120) { clearTimeout(this.timer); this.timer = setTimeout(f, pause); }

  close() { clearTimeout(this.timer); this.wanted = null; this.words.hidden = this.tip.hidden = true; this.area.removeAttribute('aria-activedescendant'); this.chosen = -1; }

  // place puts something below a place of the text.
  place(box, at) {
    const lines = this.area.value.slice(0, at).split('\n');
    const top = 8 + 20 * lines.length - this.area.scrollTop;
    const left = 8 + lines[lines.length - 1].replace(/\t/g, '    ').length * this.width() - this.area.scrollLeft;
    box.hidden = false;
    box.style.left = Math.max(0, Math.min(left, this.code.clientWidth - box.offsetWidth)) + 'px';
    box.style.top = (top + box.offsetHeight > this.code.clientHeight ? Math.max(0, top - 20 - box.offsetHeight) : top) + 'px';
  }

  // width is that of a letter.
  width() {
    if (!this.letter) {
      const probe = el('span', { style: 'font: 13px/20px var(--mono); position: absolute; visibility: hidden' }, 'M'.repeat(100));
      this.code.append(probe);
      this.letter = probe.getBoundingClientRect().width / (document.body.currentCSSZoom || 1) / 100;
      probe.remove();
    }
    return this.letter;
  }

  // under is the place in the text under the mouse, null for none.
  under(e) {
    const zoom = document.body.currentCSSZoom || 1;
    const box = this.area.getBoundingClientRect();
    const line = Math.floor(((e.clientY - box.top) / zoom + this.area.scrollTop - 8) / 20);
    const column = Math.floor(((e.clientX - box.left) / zoom + this.area.scrollLeft - 8) / this.width());
    const at = this.begins[line] + column;
    return column < 0 || !(at < this.end(line)) || !/\w/.test(this.area.value[at]) ? null : at;
  }

  // split finds the lines of a text that has changed.
  split() {
    const text = this.area.value;
    this.begins = [0];
    for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) this.begins.push(i + 1);
    this.long = text.length > whole;
    this.covered = null;
  }

  // end is where a line ends.
  end(line) { return line + 1 < this.begins.length ? this.begins[line + 1] - 1 : this.area.value.length; }

  // seen are the lines that can be seen, and some more: from the first to the one behind the last.
  seen(more) {
    const first = Math.floor(this.area.scrollTop / 20);
    return [Math.max(0, first - more), Math.min(this.begins.length, first + Math.ceil(this.area.clientHeight / 20) + 1 + more)];
  }

  // look paints what one sees of a long text.
  look() {
    if (!this.long) { this.follow(); return; }
    const within = (lines) => { const [a, b] = this.seen(0); return lines && lines[0] <= a && b <= lines[1]; };
    if (within(this.painted)) this.follow();
    else this.paint();
    if (!within(this.covered)) { clearTimeout(this.looking); this.looking = setTimeout(() => this.colour(), 60); }
  }

  async complete() {
    const at = this.area.selectionStart;
    const wanted = this.wanted = {}; // until the editor is closed, or something else is typed
    const got = await this.ask('complete', { at }).catch(() => null);
    if (!got || this.wanted !== wanted || this.area.selectionStart !== at || document.activeElement !== this.area) return;
    const typed = this.area.value.slice(got.from, at);
    const found = got.words.filter((w) => w.text.startsWith(typed) && w.text !== typed).slice(0, 50);
    if (!found.length) { this.close(); return; }
    this.from = got.from;
    clear(this.words, found.map((w, i) => el('li', { role: 'option', id: `${this.words.id}-${i}`, onpointerdown: (e) => { e.preventDefault(); this.take(w.text); } },
      el('span', {}, w.text), el('span', { class: 'soft' }, w.detail && w.kind !== 'keyword' ? w.detail : w.kind))));
    this.found = found;
    this.place(this.words, got.from);
    this.choose(0);
  }

  choose(i) {
    this.chosen = i;
    [...this.words.children].forEach((w, j) => w.setAttribute('aria-selected', String(i === j)));
    this.area.setAttribute('aria-activedescendant', this.words.children[i].id);
    this.words.children[i].scrollIntoView({ block: 'nearest' });
  }

  take(word) {
    this.close();
    this.area.setSelectionRange(this.from, this.area.selectionStart);
    document.execCommand('insertText', false, word);
    this.close();
  }

  async hover(at) {
    const text = this.area.value;
    const got = await this.ask('hover', { at }).catch(() => null);
    if (!got?.text || this.area.value !== text) return;
    const [, code, rest] = /^```prism\n([^]*?)\n```\n([^]*)$/.exec(got.text) || [null, '', got.text];
    clear(this.tip, code ? el('code', {}, code) : null, el('div', {}, rest.replace(/`/g, '').trim()));
    this.close();
    this.place(this.tip, at);
  }

  async layOut() {
    const text = this.area.value;
    const got = await this.ask('layout', {});
    if (got.wrong) throw new Error(got.wrong);
    if (this.area.value !== text || got.text === text) return;
    const at = this.area.selectionStart;
    this.area.focus();
    this.area.select();
    document.execCommand('insertText', false, got.text); // so that it can be undone
    this.area.setSelectionRange(at, at);
    this.close();
  }

  // colour asks for the colours, of a long text where one looks; the text is as it is while they come.
  async colour() {
    const text = this.area.value;
    if (this.asking) { this.again = true; return; }
    this.asking = true;
    const lines = this.long ? this.seen(around) : [0, this.begins.length];
    const [begin, end] = [this.begins[lines[0]], this.end(lines[1] - 1)];
    const got = await this.ask('colours', { at: begin, to: end }).catch(() => null);
    this.asking = false;
    if (got && this.area.value === text) {
      let at = begin;
      const parts = [];
      for (let i = 0; i < got.parts.length; i += 3) {
        const from = at + got.parts[i];
        at = from + got.parts[i + 1];
        parts.push([from, at, colours[got.parts[i + 2]]]);
      }
      this.parts = [...this.parts.filter((p) => p[1] <= begin), ...parts, ...this.parts.filter((p) => p[0] >= Math.max(end, at))];
      this.coloured = text;
      this.covered = lines;
      this.paint();
    }
    if (this.again || this.area.value !== text) { this.again = false; this.colour(); }
  }

  // moveParts keeps the colours of what is in front of an edit and behind it.
  moveParts() {
    const [a, b] = [this.coloured, this.area.value];
    let front = 0; let back = 0;
    const n = Math.min(a.length, b.length);
    while (front < n && a[front] === b[front]) front++;
    while (back < n - front && a[a.length - 1 - back] === b[b.length - 1 - back]) back++;
    const shift = b.length - a.length;
    this.parts = this.parts.flatMap(([from, to, c]) => {
      if (from >= a.length - back) return [[from + shift, to + shift, c]];
      // What is being typed has the colour of what it is typed into, or behind.
      return to < front ? [[from, to, c]] : from < front ? [[from, Math.max(Math.min(to, front), Math.min(b.length - back, to + shift)), c]] : [];
    });
    this.coloured = b;
  }

  get text() { return this.area.value; }

  set text(value) {
    if (this.area.value !== value) this.area.value = value;
    this.marks = [];
    this.split();
    this.moveParts();
    this.paint();
    this.colour();
  }

  // replace writes a text over a part of the text, so that it can be undone.
  replace(from, to, text) {
    this.area.focus();
    this.area.setSelectionRange(from, to);
    document.execCommand(text ? 'insertText' : 'delete', false, text);
    this.close();
  }

  // Tab and Enter take the chosen word. Without words Tab leaves the editor, as everywhere, and Enter keeps the indentation.
  key(e) {
    if (e.ctrlKey && e.key === ' ') { e.preventDefault(); this.complete(); return; }
    if (e.ctrlKey && e.key === 'i') { e.preventDefault(); this.hover(this.area.selectionStart); return; }
    if (e.shiftKey && e.altKey && e.code === 'KeyF') { e.preventDefault(); this.layOut().catch(() => {}); return; }
    if (e.key === 'Escape') { if (!(this.words.hidden && this.tip.hidden)) e.preventDefault(); this.close(); return; }
    if (!this.words.hidden) {
      const n = this.words.children.length;
      if (e.key === 'ArrowDown' || e.key === 'ArrowUp') { e.preventDefault(); this.choose((this.chosen + (e.key === 'ArrowDown' ? 1 : n - 1)) % n); return; }
      if ((e.key === 'Enter' || e.key === 'Tab') && this.chosen >= 0 && !e.ctrlKey && !e.metaKey && !e.shiftKey) { e.preventDefault(); this.take(this.found[this.chosen].text); return; }
    }
    if (/^(Arrow|Home|End|Page)/.test(e.key)) this.close();
    if (e.key !== 'Enter' || e.ctrlKey || e.metaKey) return;
    const before = this.area.value.slice(0, this.area.selectionStart);
    const indent = /[ \t]*/.exec(before.slice(before.lastIndexOf('\n') + 1))[0];
    if (!indent) return;
    e.preventDefault();
    document.execCommand('insertText', false, '\n' + indent);
  }

  follow() {
    const { scrollTop, scrollLeft } = this.area;
    const top = this.long ? 20 * this.painted[0] - scrollTop + 'px' : '';
    this.back.style.top = this.numbers.style.marginTop = top;
    this.back.scrollTop = this.gutter.scrollTop = this.long ? 0 : scrollTop;
    this.back.scrollLeft = scrollLeft;
  }

  // mark shows problems; places count lines and bytes from 1.
  mark(places) { this.marks = places; this.paint(); }

  // at is where a place is in the text.
  at({ line, column }) {
    if (line > this.begins.length) return this.area.value.length;
    const start = this.begins[line - 1];
    const bytes = new TextEncoder().encode(this.area.value.slice(start, this.end(line - 1))).slice(0, column - 1);
    return start + new TextDecoder().decode(bytes).length;
  }

  go(place) {
    const at = this.at(place);
    this.area.focus();
    this.area.setSelectionRange(at, at);
    this.area.scrollTop = Math.max(0, (place.line - 5) * 20);
    this.look();
  }

  // paint shows the text with its colours; all of it on paper.
  paint(all = false) {
    const text = this.area.value;
    this.painted = this.long && !all ? this.seen(around) : [0, this.begins.length];
    this.number(...this.painted);
    const wrong = this.marks.map((m) => ({ at: this.at(m), mild: m.mild })).sort((a, b) => a.at - b.at || Number(!!a.mild) - Number(!!b.mild));
    const out = document.createDocumentFragment();
    let from = this.begins[this.painted[0]];
    const until = this.end(this.painted[1] - 1);
    const put = (to, cls) => {
      // A problem begins within this part, or at it: its word is underlined.
      while (from < to) {
        const found = wrong.find((w) => w.at >= from && w.at < to);
        if (!found) { span(text.slice(from, to), cls); from = to; return; }
        const next = found.at;
        if (next > from) span(text.slice(from, next), cls);
        const word = Math.max(1, /^\w*/.exec(text.slice(next, to))[0].length);
        span(text.slice(next, next + word), (cls || '') + (found.mild ? ' advised' : ' wrong'));
        from = next + word;
      }
    };
    const span = (part, cls) => { if (cls) out.append(el('span', { class: cls }, part)); else out.append(part); };
    for (const [start, end, c] of this.parts) {
      if (end <= from) continue;
      if (start >= until) break;
      put(start);
      put(Math.min(end, until), c);
    }
    put(until);
    out.append('\n ');
    this.back.replaceChildren(out);
    this.follow();
  }

  number(first, last) {
    const bad = new Set(this.marks.filter((m) => !m.mild).map((m) => m.line));
    const out = document.createDocumentFragment();
    let run = '';
    for (let i = first + 1; i <= last; i++) {
      if (!bad.has(i)) { run += i + '\n'; continue; }
      out.append(run, el('span', { class: 'mark' }, '✕' + i + '\n'));
      run = '';
    }
    out.append(run, '\n');
    this.numbers.replaceChildren(out);
    this.gutter.style.minWidth = this.long ? `calc(${String(this.begins.length).length + 1}ch + 10px)` : '';
  }
}
