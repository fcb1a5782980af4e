// The constants without a value in the texts: one form for all views of a model.
import { el, clear, choice, input } from './dom.js';
import { doc } from './document.js';

const box = document.getElementById('constants');
const fields = new Map(); // by name
const rest = el('details', {}, el('summary', {}, 'Constants with a value in the text'));

function fieldOf(c) {
  if (!fields.has(c.name)) {
    const value = input('', { class: 'mono', placeholder: { bool: 'true or false', int: '5, 1:9 or 1,5', double: '0.5 or 0:0.1:1' }[c.type], title: 'A value, a range low:high or low:step:high, or a list', 'data-constant': c.name, 'aria-label': `Value of ${c.name}` });
    value.addEventListener('input', () => doc.give(c.name, value.value.trim()));
    const note = el('span', { class: 'soft', role: 'status' });
    const pick = el('span', { class: 'pick' });
    fields.set(c.name, { value, note, pick, element: el('div', { class: 'constant' }, el('label', {}, el('span', { class: 'mono' }, c.name), ' ', el('span', { class: 'soft type' }), value), note, pick) });
  }
  return fields.get(c.name);
}

function show() {
  const open = doc.constants.filter((c) => !c.value);
  const elements = open.map((c) => {
    const f = fieldOf(c);
    f.element.querySelector('.type').textContent = c.type;
    const given = (doc.given[c.name] || '').replace(/^\{|\}$/g, '');
    if (document.activeElement !== f.value) f.value.value = given;
    const missing = !c.count;
    f.element.classList.toggle('missing', missing);
    f.value.setAttribute('aria-invalid', String(missing));
    f.note.textContent = c.error || (missing ? 'needs a value' : c.count > 1 ? `${c.count.toLocaleString('en')} values` : '');
    f.note.className = missing ? 'warn' : 'soft';
    // Views of one state graph show one of several values.
    clear(f.pick, c.count > 1 ? choice(c.values, doc.pick(c), (v) => doc.choose(c.name, v), { 'aria-label': `${c.name} in this view` }) : null);
    return f.element;
  });
  const defined = doc.constants.filter((c) => c.value);
  clear(rest, rest.firstElementChild, el('ul', { class: 'list mono' }, defined.map((c) => el('li', {}, `${c.name} = ${c.value}`))));
  if (elements.some((e, i) => box.children[i] !== e) || box.childElementCount !== elements.length + (defined.length ? 1 : 0)) clear(box, elements, defined.length ? rest : null);
  box.hidden = !open.length;
}

doc.addEventListener('change', ({ detail }) => { if (detail.whole) { fields.clear(); show(); } });
doc.addEventListener('diagnosed', show);
doc.addEventListener('constant', ({ detail: name }) => { const f = fields.get(name); f?.value.focus(); f?.value.select(); });
