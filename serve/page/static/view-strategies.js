// Strategies of 2048 against each other, and the thesis's Figure 3.25.
import { el, clear, button, field, choice, input, number, outward, toNumber } from './dom.js';
import { ask } from './api.js';
import { doc } from './document.js';
import { status, work, attempt } from './status.js';
import { Plot } from './plot.js';

export function create() {
  const specs = el('textarea', { rows: 5, class: 'mono', 'aria-label': 'Strategies, one a line', style: 'width:100%;border:1px solid var(--strong-line);border-radius:6px;background:var(--panel);padding:6px' });
  specs.value = 'random\northogonal\nopposite\nalternating';
  const size = choice([['4,4,2048', '4x4 to 2048'], ['4,4,512', '4x4 to 512'], ['4,4,128', '4x4 to 128'], ['3,3,64', '3x3 to 64'], ['3,3,128', '3x3 to 128'], ['2,3,32', '2x3 to 32'], ['2,2,16', '2x2 to 16']], '4,4,128');
  const games = el('input', { type: 'number', min: 16, step: 1 }); games.value = 1000;
  const seed = el('input', { type: 'number', min: 0, step: 1 }); seed.value = 1;
  const by = choice([['win', 'games won'], ['score', 'mean score']], 'win');
  const all = el('input', { type: 'checkbox' });
  const note = el('p', { class: 'soft', role: 'status' });
  const rows = el('tbody');
  const chart = new Plot('strategies', { x: 'row of the table', y: 'games won', range: [0, 1] });
  const figure = new Plot('figure-3-25', { x: 'MAX', y: 'probability of losing before MAX', logY: true, ticks: [7, 8, 9, 10, 11].map((e) => [e, String(2 ** e)]) });
  const figureNote = el('p', { class: 'soft' });
  const element = el('div', {},
    el('div', { class: 'two' },
      el('section', { class: 'panel' }, el('h2', {}, 'Strategies, one a line'), specs, el('details', {}, el('summary', {}, 'Which there are'), el('ul', { class: 'list' }, doc.info.strategies.map((s) => el('li', {}, el('code', {}, s.example || s.name), ' ', el('span', { class: 'soft' }, s.about)))))),
      el('section', { class: 'panel' }, el('div', { class: 'row' }, field('Board', size), field('Games of each, at most', games), field('Seed', seed), field('Ranked by', by)), el('label', {}, all, ' play all games, also when the order is settled'),
        el('div', { class: 'row', style: 'margin-top:10px' }, button('Compare', attempt(() => compare()), { class: 'main' }), button('Figure 3.25', attempt(() => reproduce()))), note)),
    el('section', { class: 'panel' }, el('h2', {}, 'Comparison'), el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Comparison' }, el('table', { 'aria-label': 'Comparison' }, el('thead', {}, el('tr', {}, ['strategy', 'place', 'won', '99 % interval', 'score', '99 % interval', 'moves'].map((t) => el('th', { scope: 'col' }, t)))), rows)), chart.element),
    el('section', { class: 'panel' }, el('h2', {}, 'Figure 3.25 of the thesis'), figureNote, figure.element));

  const share = (s) => `${number(toNumber(s.value) * 100, 4)} %`;
  const between = (s, k = 1, unit = '') => (Number.isFinite(toNumber(s.lower)) && Number.isFinite(toNumber(s.upper)) ? `${outward(toNumber(s.lower) * k, 4, -1)} to ${outward(toNumber(s.upper) * k, 4, 1)}${unit}` : 'too few games');

  function show(t, end) {
    clear(rows, t.rows.map((r) => el('tr', {}, el('td', { class: 'mono' }, r.strategy), el('td', {}, r.best === r.worst ? String(r.best) : `${r.best} to ${r.worst}`), el('td', { class: 'num' }, share(r.won)), el('td', {}, between(r.won, 100, ' %')), el('td', { class: 'num' }, number(r.score.value, 5)), el('td', {}, between(r.score)), el('td', { class: 'num' }, number(r.moves.value, 5)))));
    chart.y = by.value === 'win' ? 'games won' : 'mean score';
    chart.range = by.value === 'win' ? [0, 1] : null;
    chart.ticks = t.rows.map((r, i) => [i + 1, String(i + 1)]);
    chart.set(t.rows.map((r, i) => { const s = by.value === 'win' ? r.won : r.score; return { name: r.strategy, points: [{ x: i + 1, y: toNumber(s.value), lo: toNumber(s.lower), hi: toNumber(s.upper) }] }; }));
    note.textContent = `${t.samples.toLocaleString('en')} of ${t.asked.toLocaleString('en')} games of each, looked at ${t.looks} times${end ? `: ${end}` : '…'}`;
  }

  const question = (rows_, cols, tile) => ({ rows: rows_, cols, tile, strategies: specs.value.split('\n').map((s) => s.trim()).filter(Boolean), samples: Number(games.value), seed: Number(seed.value), by: by.value, all: all.checked });

  async function compare() {
    const [r, c, max] = size.value.split(',').map(Number);
    const answer = await work('Compare', (signal, part) => ask('strategies', question(r, c, max), { signal, part: (name, v) => { if (name === 'table') show(v); else part(name, v); } }));
    show(answer.table, answer.end);
  }

  async function reproduce() {
    const { points, note: remark, samples: theirs } = await ask('published');
    const names = [...new Set(points.map((p) => p.strategy))];
    const specOf = Object.fromEntries(points.map((p) => [p.strategy, p.spec]));
    figureNote.textContent = `Filled marks are our games, hollow ones the ${theirs} games of each that the thesis has (Table 3.6). ${remark}`;
    const draw = (t) => figure.set(names.flatMap((n, i) => {
      const published = { name: n + ', thesis', hollow: true, color: i, points: points.filter((p) => p.strategy === n).map((p) => ({ x: Math.log2(p.tile) + 0.04, y: p.loss, lo: Math.max(0, p.loss - p.half_width), hi: Math.min(1, p.loss + p.half_width) })) };
      const mine = t?.rows[i];
      return [mine ? { name: n, color: i, points: mine.reached.map((x) => ({ x: Math.log2(x.tile) - 0.04, y: toNumber(x.lost.value), lo: toNumber(x.lost.lower), hi: toNumber(x.lost.upper) })) } : null, published].filter(Boolean);
    }));
    draw(null);
    const q = { ...question(4, 4, 2048), strategies: names.map((n) => specOf[n]), all: true, by: 'score' };
    const answer = await work('Figure 3.25', (signal, part) => ask('strategies', q, { signal, part: (name, v) => { if (name === 'table') draw(v); else part(name, v); } }));
    draw(answer.table);
  }
  return { element };
}
