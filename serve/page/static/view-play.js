// 2048, played by a person or by a strategy, with what each move is worth.
import { el, clear, button, field, choice, input, number, upload } from './dom.js';
import { ask } from './api.js';
import { doc } from './document.js';
import { status, work, attempt } from './status.js';
import { boardElement } from './board.js';

const arrows = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down' };
const signs = { left: '←', right: '→', up: '↑', down: '↓' };

export function create() {
  let game = null; // the board, and how it came about
  let past = []; let film = null; let timer = null;
  const size = choice([['2,2,16', '2x2 to 16'], ['2,2,32', '2x2 to 32'], ['2,3,64', '2x3 to 64'], ['3,3,64', '3x3 to 64'], ['3,3,256', '3x3 to 256'], ['4,4,2048', '4x4 to 2048'], ...(doc.info.tables || []).map((b) => [`${b.rows},${b.cols},${b.tile}`, `${b.rows}x${b.cols} to ${b.tile}, solved`])], '4,4,2048', () => start());
  const seed = el('input', { type: 'number', min: 0, step: 1 }); seed.value = 1;
  const hinting = el('input', { type: 'checkbox', onchange: () => hint() });
  const place = el('div');
  const score = el('p', { role: 'status' });
  const hints = el('div', { 'aria-live': 'polite' });
  const spec = input('opposite', { class: 'mono', list: 'specs' });
  const speed = choice([['60', 'fast'], ['250', 'steady'], ['900', 'slow']], '250');
  const frames = el('input', { type: 'range', min: 0, max: 0, step: 1, 'aria-label': 'Move', style: 'width:100%' });
  frames.addEventListener('input', () => { stop(); at(Number(frames.value)); });
  const reel = el('div', { hidden: true }, frames, el('div', { class: 'row' },
    button('Back', () => { stop(); at(film.at - 1); }), button('Run', () => run()), button('Stop', () => stop()), button('Next', () => { stop(); at(film.at + 1); })));
  const list = el('div');
  const board = el('div', { tabindex: 0, role: 'application', 'aria-label': 'The game: arrow keys, W A S D, or a swipe make moves' }, place);
  const pad = el('div', { class: 'pad', role: 'group', 'aria-label': 'Moves' }, el('span'), button('↑', () => move('up'), { 'aria-label': 'up' }), el('span'), button('←', () => move('left'), { 'aria-label': 'left' }), button('↓', () => move('down'), { 'aria-label': 'down' }), button('→', () => move('right'), { 'aria-label': 'right' }));

  const element = el('div', {},
    el('div', { class: 'row' }, field('Board', size), field('Seed', seed), button('New game', () => start(), { class: 'main' }), button('Undo', () => { if (past.length) { forget(); game = past.pop(); show(); } }), el('label', {}, hinting, ' Hints')),
    el('div', { class: 'two' },
      el('div', {}, board, score, pad),
      el('div', {},
        el('section', { class: 'panel' }, el('h2', {}, 'What each move is worth'), hints),
        el('section', { class: 'panel' }, el('h2', {}, 'Watch'), el('div', { class: 'row' }, field('Strategy', spec, 'grow'), field('Speed', speed), button('Watch', attempt(() => watch())), button('Open a record…', () => upload('.txt,.games,.record', (name, text) => attempt(() => replay(name, text, 0))()))),
          el('datalist', { id: 'specs' }, el('option', { value: 'expectimax:eval=cs221,depth=variable' }, 'CS221\'s player of 2014'), doc.info.strategies.map((s) => el('option', { value: s.example || s.name }))), list, reel))));

  const dims = () => { const [rows, cols, tile] = size.value.split(',').map(Number); return { rows, cols, tile }; };

  // A move or a new game is asked for. Its answer counts only while nothing newer was asked for.
  let asked = 0; let busy = false;
  const forget = () => { asked++; busy = false; };
  const start = attempt(async () => {
    stop();
    film = null;
    reel.hidden = true;
    past = [];
    const d = dims();
    forget();
    const mine = asked;
    const p = await ask('turn', { ...d, seed: Number(seed.value) || 0, move: 0 });
    if (mine !== asked) return;
    game = { ...d, cells: p.cells, legal: p.legal, score: 0, moves: 0, fresh: -1, won: p.won, lost: p.lost };
    show();
  });

  const move = attempt(async (dir) => {
    if (film || busy || !game || !game.legal.includes(dir)) return;
    busy = true;
    const mine = ++asked;
    try {
      const p = await ask('turn', { rows: game.rows, cols: game.cols, tile: game.tile, cells: game.cells, dir, seed: Number(seed.value) || 0, move: game.moves + 1 });
      if (mine !== asked) return;
      past.push(game);
      game = { ...game, cells: p.cells, legal: p.legal, score: game.score + p.gain, moves: game.moves + 1, fresh: p.new, won: p.won, lost: p.lost, last: dir };
      show();
    } finally { if (mine === asked) busy = false; }
  });

  function show() {
    clear(place, boardElement(game.cells, game.cols, { fresh: game.fresh }));
    score.textContent = `Score ${game.score}, ${game.moves} moves${game.last ? `, last ${game.last}` : ''}.${game.won ? ` Won: ${game.tile} is there.` : game.lost ? ' Lost: no move is left.' : ''}`;
    for (const b of pad.querySelectorAll('button')) b.disabled = !!film || !game.legal.includes(b.getAttribute('aria-label'));
    hint();
  }

  // Hints take longer than moves of a film: while some are computed, only the newest position waits. They say of which move they are.
  let next = null; let computing = false;
  const hint = attempt(async () => {
    if (!hinting.checked) { clear(hints, el('p', { class: 'soft' }, 'Turn hints on. On boards up to 3x3 and 64 they are the probabilities of winning with optimal play, computed here; on others what expectimax thinks they are worth.')); return; }
    next = game;
    ofThisMove();
    if (computing) return;
    computing = true;
    try {
      while (next && hinting.checked) {
        const g = next;
        next = null;
        const q = { rows: g.rows, cols: g.cols, tile: g.tile, cells: g.cells, strategy: film?.strategy && !film.strategy.startsWith('optimal') ? film.strategy : '' };
        showHints(g, await ask('hints', q));
      }
    } finally { computing = false; }
  });

  // ofThisMove greys hints of another move.
  function ofThisMove() { hints.classList.toggle('outdated', hints.dataset.moves !== String(game.moves)); }

  function showHints(g, h) {
    hints.dataset.moves = g.moves;
    const of = `Move ${g.moves}: `;
    if (!h.moves.length) clear(hints, el('p', { class: 'soft' }, of + 'the game is over.'));
    else {
      clear(hints, el('p', { class: 'soft' }, of + (h.kind === 'win' ? `the ${h.about}.` : h.kind === 'worth' ? `what ${h.about} thinks each move is worth, in its own points.` : `how likely ${h.about} makes the move.`)),
        ['left', 'right', 'up', 'down'].map((d) => {
          const all = h.moves.map((x) => x.value);
          const share = (v) => (h.kind !== 'worth' ? v : Math.max(...all) === Math.min(...all) ? 1 : 0.08 + 0.92 * (v - Math.min(...all)) / (Math.max(...all) - Math.min(...all)));
          const m = h.moves.find((x) => x.dir === d);
          return el('div', { class: 'hint' + (m?.best ? ' best' : '') }, el('span', {}, `${m?.best ? '★' : ' '} ${signs[d]} ${d}`), el('div', { class: 'track', 'aria-hidden': 'true' }, el('div', { class: 'fill', style: `width:${m ? share(m.value) * 100 : 0}%` })), el('span', { class: 'mono' }, m ? number(m.value, 8) : 'not legal'));
        }));
    }
    ofThisMove();
  }

  function at(i) {
    film.at = Math.max(0, Math.min(film.frames.length - 1, i));
    const f = film.frames[film.at];
    frames.value = film.at;
    game = { rows: film.rows, cols: film.cols, tile: film.tile, cells: f.cells, legal: [], score: f.score, moves: f.moves, last: f.dir, fresh: -1 };
    show();
  }

  function stop() { clearInterval(timer); timer = null; }
  function run() {
    stop();
    if (film.at === film.frames.length - 1 && !film.live) film.at = 0;
    timer = setInterval(() => { if (film.at + 1 < film.frames.length) at(film.at + 1); else if (!film.live) stop(); }, Number(speed.value));
  }

  function play(f) {
    stop();
    forget();
    film = Object.assign(f, { at: 0 });
    frames.max = f.frames.length - 1;
    reel.hidden = false;
    at(0);
  }

  async function watch() {
    const d = dims();
    const mine = { ...d, frames: [], strategy: spec.value, live: true };
    clear(list);
    const came = (v) => {
      mine.frames.push(v);
      if (mine.frames.length === 1) { play(mine); run(); }
      if (film === mine) frames.max = mine.frames.length - 1;
    };
    try {
      const answer = await work('Watch ' + spec.value, (signal, part) => ask('watch', { ...d, strategy: spec.value, seed: Number(seed.value) || 0 }, { signal, part: (name, v) => { if (name === 'frame') came(v); else part(name, v); } }));
      if (film !== mine) return;
      mine.strategy = answer.strategy;
      clear(list, el('p', {}, `${answer.strategy}: score ${answer.score}, ${answer.moves} moves, largest tile ${answer.largest_tile}${answer.won ? ', won' : ''}.`));
    } finally { mine.live = false; }
  }

  async function replay(name, text, index) {
    const r = await work('Open ' + name, (signal, part) => ask('replay', { name, text, game: index }, { signal, part }));
    const pick = choice(r.games.map((g) => [String(g.index), `game ${g.index}: score ${g.score}, ${g.moves} moves, ${g.largest_tile}${g.won ? ', won' : ''}`]), String(index), attempt((i) => replay(name, text, Number(i))));
    clear(list, el('p', {}, `${r.strategy} on ${r.rows}x${r.cols}: ${r.games.length} games, every move checked against the rules.`), field('Game', pick));
    play({ rows: r.rows, cols: r.cols, tile: r.tile, frames: r.frames, strategy: '' });
  }

  element.addEventListener('keydown', (e) => {
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) || e.ctrlKey || e.metaKey || e.altKey) return;
    const dir = arrows[e.key] || { a: 'left', d: 'right', w: 'up', s: 'down' }[e.key.toLowerCase()];
    if (!dir) return;
    e.preventDefault();
    move(dir);
  });
  let from = null;
  board.addEventListener('pointerdown', (e) => { from = [e.clientX, e.clientY]; });
  addEventListener('pointerup', (e) => {
    if (!from) return;
    const [dx, dy] = [e.clientX - from[0], e.clientY - from[1]];
    from = null;
    if (Math.max(Math.abs(dx), Math.abs(dy)) < 24) return;
    move(Math.abs(dx) > Math.abs(dy) ? (dx > 0 ? 'right' : 'left') : (dy > 0 ? 'down' : 'up'));
  });
  return { element, show() { if (!game) start(); board.focus({ preventScroll: true }); }, hide: stop };
}
