// Boards of 2048.
import { el } from './dom.js';

// boardOf finds the board in the state of a generated model: its variables v_0, v_1, and so on.
export function boardOf(vars, state) {
  const cells = [];
  for (;;) {
    const i = vars.findIndex((v) => v.name === 'v_' + cells.length);
    if (i < 0) break;
    cells.push(state[i]);
  }
  if (cells.length < 2) return null;
  const side = Math.sqrt(cells.length);
  // Of boards that are no squares the model does not say how they are laid out; they lie.
  const cols = Number.isInteger(side) ? side : [...Array(cells.length).keys()].slice(1).find((c) => cells.length % c === 0 && c >= cells.length / c) || cells.length;
  return { cells, cols };
}

// tileClass is what a tile looks like.
export const tileClass = (v) => `t${v ? Math.min(12, Math.log2(v)) : 0}`;

export function boardElement(cells, cols, { mini = false, fresh = -1 } = {}) {
  const rows = [];
  for (let i = 0; i < cells.length; i += cols) rows.push(cells.slice(i, i + cols).map((v) => v || 'empty').join(' '));
  return el('div', { class: mini ? 'board mini' : 'board', role: 'img', 'aria-label': 'Board, row by row: ' + rows.join('; '), style: `grid-template-columns:repeat(${cols},1fr)` },
    cells.map((v, i) => el('div', { class: `tile ${tileClass(v)}${i === fresh ? ' new' : ''}` }, v ? String(v) : '')));
}
