// Questions that must be answered before the page goes on.
import { el, button } from './dom.js';

// choose asks a question and returns the chosen title of the buttons, or null if the dialog was closed.
export function choose(text, titles, more = null) {
  return new Promise((resolve) => {
    const close = (answer) => { box.close(); box.remove(); resolve(answer); };
    const box = el('dialog', { 'aria-label': text, class: more ? 'wide' : '' }, el('p', {}, text), more,
      el('div', { class: 'row' }, titles.map((t, i) => button(t, () => close(t), { class: i === 0 ? 'main' : '' }))));
    box.addEventListener('cancel', (e) => { e.preventDefault(); close(null); });
    document.body.append(box);
    box.showModal();
  });
}

// difference lists the lines of two texts: ' ' in both, '-' only in the first, '+' only in the second. It finds a longest common subsequence of what is
// left between the first and the last line that differ.
export function difference(a, b) {
  const [x, y] = [a.split('\n'), b.split('\n')];
  let front = 0; let back = 0;
  while (front < Math.min(x.length, y.length) && x[front] === y[front]) front++;
  while (back < Math.min(x.length, y.length) - front && x[x.length - 1 - back] === y[y.length - 1 - back]) back++;
  const [u, v] = [x.slice(front, x.length - back), y.slice(front, y.length - back)];
  const out = x.slice(0, front).map((l) => [' ', l]);
  if (u.length * v.length > 4e6) { // too many for a table of lengths
    out.push(...u.map((l) => ['-', l]), ...v.map((l) => ['+', l]));
  } else {
    const length = Array.from({ length: u.length + 1 }, () => new Int32Array(v.length + 1));
    for (let i = u.length - 1; i >= 0; i--) for (let j = v.length - 1; j >= 0; j--) length[i][j] = u[i] === v[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
    for (let i = 0, j = 0; i < u.length || j < v.length;) {
      if (i < u.length && j < v.length && u[i] === v[j]) { out.push([' ', u[i]]); i++; j++; } else if (j === v.length || (i < u.length && length[i + 1][j] >= length[i][j + 1])) out.push(['-', u[i++]]);
      else out.push(['+', v[j++]]);
    }
  }
  return [...out, ...x.slice(x.length - back).map((l) => [' ', l])];
}

// showDifference shows the lines that differ, with two lines around them.
export async function showDifference(title, before, after) {
  const lines = difference(before, after);
  const near = lines.map((_, i) => lines.slice(Math.max(0, i - 2), i + 3).some(([mark]) => mark !== ' '));
  const rows = [];
  lines.forEach(([mark, text], i) => {
    if (near[i]) rows.push(el('div', { class: mark === '-' ? 'removed' : mark === '+' ? 'added' : '' }, mark + ' ' + text));
    else if (near[i - 1]) rows.push(el('div', { class: 'soft' }, '…'));
  });
  await choose(title, ['Close'], el('div', { class: 'difference mono', tabindex: 0, role: 'region', 'aria-label': 'Lines that differ' }, rows.length ? rows : 'The texts are the same.'));
}
