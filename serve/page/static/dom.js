// Elements without HTML: whatever a text says, it stays text.

export function el(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), props, children);
}

function fill(e, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
    else if (name === 'style') e.style.cssText = value; // the policy of the page forbids the attribute
    else if (name === 'class') e.setAttribute('class', value);
    else if (name in e && typeof value !== 'string' && !(e instanceof SVGElement)) e[name] = value;
    else e.setAttribute(name, value === true ? '' : value);
  }
  e.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

export const clear = (e, ...children) => e.replaceChildren(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));

let ids = 0;
export const fresh = (prefix) => `${prefix}-${++ids}`;

// A control with its name above it.
export const field = (name, control, cls = '') => el('label', { class: 'field ' + cls }, el('span', {}, name), control);

export const button = (text, onclick, props = {}) => el('button', { type: 'button', onclick, ...props }, text);

export function choice(options, value, onchange, props = {}) {
  const s = el('select', { ...props, onchange: () => onchange && onchange(s.value) },
    options.map((o) => (Array.isArray(o) ? el('option', { value: o[0], selected: o[0] === value }, o[1]) : el('option', { value: o, selected: o === value }, o))));
  return s;
}

// menu is a list of which one entry is taken at a time; its first entry says what it is. Arrow keys and letters go through the closed list, and Enter takes the entry.
export function menu(title, options, take, props = {}) {
  let going = false; // through the list with keys
  const taken = () => {
    const { value } = list;
    going = false;
    list.value = '';
    if (value !== '') take(value);
  };
  const opens = (e) => e.key === ' ' || e.key === 'F4' || e.altKey;
  const list = choice([['', title], ...options], '', () => { if (!going) taken(); }, {
    class: 'menu', 'aria-label': title.replace('…', ''), title: 'Enter takes the entry',
    onkeydown: (e) => { going = e.key !== 'Enter' && !opens(e); if (e.key === 'Enter' && list.value !== '') { e.preventDefault(); taken(); } },
    onpointerdown: () => { going = false; },
    onblur: () => { list.value = ''; },
    ...props,
  });
  return list;
}

export const input = (value, props = {}) => { const i = el('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', ...props }); i.value = value; return i; };

export function number(x, digits = 6) {
  if (typeof x === 'string') return x;
  if (x === undefined || x === null) return '';
  if (Number.isInteger(x)) return String(x);
  return String(Number(x.toPrecision(digits)));
}

// outward writes the end of an interval with so many digits, rounded down for direction -1 and up for 1, as report/number does:
// what is printed contains what is known.
export function outward(x, digits, direction) {
  if (typeof x !== 'number' || Number.isInteger(x) || !Number.isFinite(x)) return number(x, digits);
  const shown = Number(x.toPrecision(digits));
  if ((x - shown) * direction <= 0) return String(shown);
  const place = Number('1e' + (Number(x.toExponential(digits - 1).split('e')[1]) - digits + 1));
  return String(Number((shown + direction * place).toPrecision(digits)));
}

export const interval = (lo, hi, digits = 8) => `[${outward(lo, digits, -1)}, ${outward(hi, digits, 1)}]`;

// The values of JSON are numbers, or the names of those that JSON has no digits for.
export function toNumber(x) {
  if (typeof x === 'number') return x;
  return { Infinity: Infinity, '-Infinity': -Infinity, NaN: NaN }[x] ?? NaN;
}

export function download(name, text, type = 'text/plain') {
  const a = el('a', { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
}

// A file of this computer, which goes nowhere but into the page.
export function upload(accept, take) {
  const i = el('input', { type: 'file', accept, hidden: true, 'aria-label': 'A file of this computer' });
  i.addEventListener('change', async () => { if (i.files.length) take(i.files[0].name, await i.files[0].text()); i.remove(); });
  document.body.append(i);
  i.click();
}
