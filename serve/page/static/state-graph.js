// The picture of a part of a state graph: states, choices and transitions, and marks on them.
import { svg, number, toNumber } from './dom.js';
import { layout, badge, curve } from './graph.js';
import { boardOf, tileClass } from './board.js';

const cell = 30; // of a board, in pixels
const letterWidth = 7.4; // of the font of 12 pixels
const lineHeight = 15;
export const key = (state) => state.join();

const isChain = (type) => ['DTMC', 'CTMC', 'IDTMC'].includes(type);
const valueOf = (v, x) => (v.bool ? String(!!x) : String(x));
export const stateText = (vars, state) => vars.map((v, i) => `${v.name}=${valueOf(v, state[i])}`).join(', ');

// changeText says what a step from one state to another changes.
export function changeText(vars, from, to) {
  const changed = vars.flatMap((v, i) => (to[i] !== from[i] ? [`${v.name}'=${valueOf(v, to[i])}`] : []));
  return changed.length ? changed.join(' ') : 'stays';
}

export const valueText = (v, digits = 5) => (v.boolean ? (v.lower === 1 ? '✓ true' : v.upper === 0 ? '✕ false' : '? open') : number(middle(v), digits));
const middle = (v) => (toNumber(v.lower) === toNumber(v.upper) ? v.lower : (toNumber(v.lower) + toNumber(v.upper)) / 2);

// The shapes of the players of a game, in their order; more players begin again. Each has the size that a text of some width and height needs.
const shapes = [
  { name: 'box', size: (w, h) => [w, h] },
  { name: 'diamond', size: (w, h) => [1.7 * w, 2.45 * h] },
  { name: 'hexagon', size: (w, h) => [1.5 * w, 1.5 * h] },
  { name: 'octagon', size: (w, h) => [1.3 * w, 1.6 * h] },
];
const shapeOf = (player) => shapes[(player ?? 0) % shapes.length];

// corners of the shapes, as parts of half the width and height, as Graphviz has them.
const corners = {
  diamond: [[0, -1], [1, 0], [0, 1], [-1, 0]],
  hexagon: [[-0.5, -1], [0.5, -1], [1, 0], [0.5, 1], [-0.5, 1], [-1, 0]],
  octagon: [[-0.414, -1], [0.414, -1], [1, -0.414], [1, 0.414], [0.414, 1], [-0.414, 1], [-1, 0.414], [-1, -0.414]],
};

// outline draws the shape of a player around the origin.
function outline(player, w, h, props) {
  const { name } = shapeOf(player);
  if (name === 'box') return svg('rect', { x: -w / 2, y: -h / 2, width: w, height: h, rx: Math.min(7, h / 5), ...props });
  return svg('path', { d: 'M' + corners[name].map(([x, y]) => `${x * w / 2} ${y * h / 2}`).join('L') + 'Z', ...props });
}

// playerIcon is the shape of a player for a legend or a text.
export const playerIcon = (player) => svg('svg', { class: 'player', width: 20, height: 16, viewBox: '-10 -8 20 16', 'aria-hidden': 'true' }, outline(player, 17, 13, {}));

// choiceName returns what is written on a choice: its action, or the module of an unlabelled command if that is not clear; with its line if another choice
// of the state is of the same module.
function choiceName(graph, c) {
  if (c.action?.startsWith('[')) return c.action;
  const modules = c.action || [...new Set(c.commands.map((d) => d.module))].join('|');
  const others = graph.choices.filter((d) => d.from === c.from && d !== c);
  if (others.some((d) => d.action === c.action)) return `${modules}:${c.commands.map((d) => d.line).join(',')}`;
  return others.length || graph.modules > 1 ? modules : '';
}

// componentColour is the number of the colour of a component.
export const componentColour = (component) => (component - 1) % 8;

// StateGraph draws a graph on a canvas. act has functions for what one does with a state: select, compare, collapse, predecessors.
export class StateGraph {
  constructor(canvas, act) {
    this.canvas = canvas;
    this.act = act;
    this.smallest = 9; // pixels of the smallest text on the screen
    this.positions = new Map(); // of states in the picture before, by key
    this.fitters = [];
  }

  // set lays a graph out and draws it.
  async set(graph, marks) {
    const texts = graph.nodes.map((n) => this.lines(graph, n));
    const nodes = graph.nodes.map((n, i) => this.size(graph, n, texts[i]));
    const edges = this.edges(graph, nodes);
    const placed = await layout(nodes, edges);
    this.shown = { graph, texts, nodes, edges, placed };
    this.draw(marks);
  }

  // lines are what is written on a state.
  lines(graph, n) {
    const all = graph.vars.map((v, i) => `${v.name}=${valueOf(v, n.state[i])}`);
    const first = graph.nodes[0].state;
    const drawn = boardOf(graph.vars, n.state);
    // Variables that are the same everywhere say nothing, and those of a board are drawn.
    const told = all.filter((_, i) => !(drawn && /^v_\d+$/.test(graph.vars[i].name)) && (graph.vars.length <= 4 || graph.nodes.some((m) => m.state[i] !== first[i])));
    const out = [];
    for (const t of told) {
      const last = out[out.length - 1];
      if (last !== undefined && (last + ' ' + t).length <= 22) out[out.length - 1] = last + ' ' + t;
      else out.push(t);
    }
    if (out.length > 4) out.splice(4, out.length, '…');
    return out.length || drawn ? out : ['state'];
  }

  // size returns the size of a state and, as inner, that of what is written in it.
  size(graph, n, text) {
    const b = boardOf(graph.vars, n.state);
    const letters = Math.max(0, ...text.map((t) => t.length), n.value ? valueText(n.value).length + 2 : 0);
    const w = Math.max(58, letterWidth * letters + 14, b ? b.cols * cell + 14 : 0);
    const h = 12 + lineHeight * text.length + (b ? b.cells.length / b.cols * cell + 4 : 0) + (n.value ? 22 : 0) + (n.labels?.length ? 14 : 0);
    const shape = shapeOf(n.player);
    const [width, height] = shape.size(w, h);
    return { width, height, shape: shape.name, inner: { w, h }, board: b };
  }

  // edges returns the edges of a graph, and adds a node for each choice with several targets unless the model is a chain.
  edges(graph, nodes) {
    const out = [];
    const chain = isChain(graph.type);
    for (const c of graph.choices) {
      const to = c.to.filter((t) => t.to >= 0);
      const name = choiceName(graph, c);
      const of = { best: c.best, a: c.from };
      if (to.length === 1 && c.to.length === 1) {
        const weight = chain && toNumber(to[0].probability) !== 1 ? number(to[0].probability, 4) : '';
        out.push({ ...of, from: c.from, to: to[0].to, b: to[0].to, text: [name, weight].filter(Boolean).join(' '), star: c.best });
        continue;
      }
      let from = c.from;
      if (!chain) {
        nodes.push({ width: 8, height: 8, shape: 'ellipse', choice: c });
        from = nodes.length - 1;
        out.push({ ...of, from: c.from, to: from, text: name, targets: to.map((t) => t.to), whole: to.length === c.to.length, star: c.best });
      }
      for (const t of to) out.push({ ...of, from, to: t.to, b: t.to, text: [chain ? name : '', number(t.probability, 4)].filter(Boolean).join(' '), choice: c });
    }
    return out;
  }

  // draw draws the graph with marks: chosen (a key), compared (a key), path and found (sets of keys), steps of the path, and components {name, of}, where of
  // maps keys to numbers.
  draw(marks) {
    const { graph, texts, nodes, edges, placed } = this.shown;
    this.marks = marks;
    this.fitters = [];
    const focused = this.canvas.layer.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const parts = edges.flatMap((e, i) => (placed.edges[i] ? this.edgeParts(e, placed.edges[i]) : []));
    const positions = new Map();
    nodes.forEach((n, i) => {
      const at = placed.nodes[i];
      if (n.choice) { parts.push(svg('circle', { cx: at.x, cy: at.y, r: 4, class: 'tip' + (n.choice.best ? ' best' : '') })); return; }
      positions.set(key(graph.nodes[i].state), at);
      parts.push(this.node(graph.nodes[i], texts[i], n, at));
    });
    const at = Math.max(0, graph.nodes.findIndex((n) => key(n.state) === marks.chosen));
    this.factor = null;
    this.canvas.draw(placed.width, placed.height, parts, placed.nodes[at], this.positions.get(key(graph.nodes[at].state)));
    this.positions = positions;
    this.fitTexts();
    if (focused) this.focus(focused);
  }

  // choose marks another state as the selected one, without drawing the others again.
  choose(marks) {
    const keys = [this.marks.chosen, marks.chosen];
    this.marks = marks;
    for (const k of keys) {
      const g = this.canvas.layer.querySelector(`[data-key="${k}"]`);
      const n = this.shown.graph.nodes.find((m) => key(m.state) === k);
      if (!g || !n) continue;
      g.classList.toggle('chosen', k === marks.chosen);
      g.setAttribute('aria-label', this.label(n));
      g.querySelector('title').textContent = this.label(n);
    }
  }

  focus(k) { this.canvas.layer.querySelector(`[data-key="${k}"]`)?.focus({ preventScroll: true }); }

  edgeParts(e, at) {
    const { graph } = this.shown;
    const { steps, components } = this.marks;
    const of = (i) => components?.of.get(key(graph.nodes[i].state));
    const onPath = (e.targets || [e.b]).some((b) => steps.has(key(graph.nodes[e.a].state) + '>' + key(graph.nodes[b].state)));
    // A choice stays in an end component if all its targets are in it. An edge stays in a strongly connected component if both its ends are.
    const targets = components?.name === 'MEC' && e.choice ? e.choice.to.map((t) => t.to) : e.targets || [e.b];
    const inside = components && of(e.a) && e.whole !== false && targets.every((b) => b >= 0 && of(b) === of(e.a));
    const cls = onPath ? 'path' : e.best ? 'best' : inside ? `in-component k${componentColour(of(e.a))}` : '';
    const parts = curve(at.points, cls);
    if (at.text) {
      const t = svg('text', { class: 'edgetext', x: at.text[0], y: at.text[1] + 4, 'text-anchor': 'middle' }, e.text + (e.star && e.text ? ' ★' : ''));
      this.fitters.push((f) => { t.style.fontSize = `${11 * f}px`; t.style.display = f > 1.7 ? 'none' : ''; });
      parts.push(t);
    }
    return parts;
  }

  // label returns what a screen reader says of a state.
  label(n) {
    const { graph } = this.shown;
    const { chosen, compared, found, components } = this.marks;
    const component = components?.of.get(key(n.state));
    return [`State ${n.text}`, n.value && `value ${valueText(n.value)}`, ...(n.labels || []).map((l) => graph.labels[l]), n.initial && 'initial', n.deadlock && 'deadlock',
      n.player !== undefined && `${graph.players[n.player]} moves`, component && `${components.name} ${component}`, found.has(key(n.state)) && 'found', compared === key(n.state) && 'compared',
      chosen === key(n.state) && 'selected', !n.open && 'not expanded'].filter(Boolean).join(', ');
  }

  node(n, text, { width, height, inner, board }, at) {
    const { chosen, compared, path, found, components } = this.marks;
    const k = key(n.state);
    const component = components?.of.get(k);
    const g = svg('g', {
      class: ['node', n.open && 'open', chosen === k && 'chosen', path.has(k) && 'path', component && `k${componentColour(component)}`].filter(Boolean).join(' '),
      transform: `translate(${at.x} ${at.y})`, tabindex: 0, role: 'button', 'aria-label': this.label(n), 'data-key': k,
    });
    if (found.has(k)) g.append(outline(n.player, width + 12, height + 12, { class: 'ring' }));
    g.append(outline(n.player, width, height, { class: 'box', 'stroke-dasharray': n.open ? null : '4 3' }));
    if (n.initial) g.append(outline(n.player, width - (inner.w < width ? 14 : 6), height - (inner.w < width ? 8 : 6), { class: 'inner' }));
    const top = -inner.h / 2 + (board ? board.cells.length / board.cols * cell + 4 : 0);
    if (board) this.drawBoard(g, board, -inner.h / 2);
    const below = this.write(g, n, text, inner, top);
    g.append(svg('title', {}, this.label(n)));
    const marks = n.labels || [];
    marks.forEach((l, i) => { const b = badge(l, 5); b.setAttribute('transform', `translate(${16 * (i - (marks.length - 1) / 2)} ${below + 3})`); g.append(b); });
    if (component) this.pill(g, `${components.name} ${component}`, -height / 2 - 5);
    if (compared === k) this.pill(g, 'compared', height / 2 + 5);
    this.listen(g, n);
    return g;
  }

  drawBoard(g, board, top) {
    board.cells.forEach((v, i) => {
      const [left, up] = [(i % board.cols - board.cols / 2) * cell, top + 7 + Math.floor(i / board.cols) * cell];
      g.append(svg('rect', { class: 'cell ' + tileClass(v), x: left + 1, y: up + 1, width: cell - 2, height: cell - 2, rx: 3 }));
      if (!v) return;
      const t = svg('text', { class: 'cell ' + tileClass(v), x: left + cell / 2, y: up + cell / 2 + 4, 'text-anchor': 'middle' }, String(v));
      this.fitters.push((f) => { t.style.fontSize = `${12 * Math.min(f, 1.5)}px`; });
      g.append(t);
    });
  }

  // write writes the lines and the value of a state and returns where they end. If the letters must be larger than usual, as many of them are written as fit.
  write(g, n, text, inner, top) {
    const lines = text.map((t, i) => ({ t, y: top + 18 + lineHeight * i }));
    let below = top + 16 + lineHeight * text.length;
    if (n.value) {
      lines.push({ t: valueText(n.value), y: below + 5, bold: true });
      const v = toNumber(n.value.lower);
      if (!n.value.boolean && v >= 0 && toNumber(n.value.upper) <= 1) {
        const bar = { x: 8 - inner.w / 2, y: below + 9, height: 4 };
        g.append(svg('rect', { class: 'bar', ...bar, width: inner.w - 16 }), svg('rect', { class: 'barfill', ...bar, width: (inner.w - 16) * v }));
      }
      below += 22;
    }
    const elements = lines.map((l) => svg('text', { x: 0, y: l.y, 'text-anchor': 'middle', 'font-weight': l.bold ? 700 : null }, l.t));
    g.append(...elements);
    const middleOf = lines.length ? (lines[0].y + lines[lines.length - 1].y) / 2 : 0;
    this.fitters.push((f) => {
      const rows = Math.min(lines.length, f === 1 ? Infinity : Math.floor((lines.length * lineHeight + 9) / (12.5 * f)));
      const letters = f === 1 ? Infinity : Math.floor((inner.w - 4) / (letterWidth * f));
      const first = lines.filter((l) => l.bold).concat(lines.filter((l) => !l.bold)).slice(0, rows);
      let row = 0;
      lines.forEach((l, i) => {
        const e = elements[i];
        const shown = letters > 2 && first.includes(l);
        e.style.display = shown ? '' : 'none';
        if (!shown) return;
        e.style.fontSize = `${12 * f}px`;
        e.textContent = l.t.length > letters ? l.t.slice(0, letters - 1) + '…' : l.t;
        e.setAttribute('y', f === 1 ? l.y : middleOf + (row - (first.length - 1) / 2) * 12.5 * f + (f - 1) * 4);
        row++;
      });
    });
    return below;
  }

  // pill writes a mark on the edge of a state.
  pill(g, text, y) {
    const w = 6.6 * text.length + 8;
    const t = svg('text', { class: 'pilltext', y: 4, 'text-anchor': 'middle' }, text);
    const p = svg('g', { transform: `translate(0 ${y})` }, svg('rect', { class: 'pill', x: -w / 2, y: -8, width: w, height: 16, rx: 8 }), t);
    this.fitters.push((f) => p.setAttribute('transform', `translate(0 ${y}) scale(${Math.min(f, 2)})`));
    g.append(p);
  }

  listen(g, n) {
    const { select, compare, collapse, predecessors } = this.act;
    g.addEventListener('click', (e) => (e.shiftKey ? compare(n) : select(n)));
    g.addEventListener('keydown', (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      const act = { Enter: e.shiftKey ? compare : select, ' ': select, c: collapse, p: predecessors, d: compare }[e.key];
      if (!act) return;
      e.preventDefault();
      e.stopPropagation();
      act(n);
    });
  }

  // fitTexts makes texts large enough for the scale of the canvas.
  fitTexts() {
    const factor = Math.max(1, this.smallest / (12 * this.canvas.at.k));
    if (this.factor && Math.abs(factor / this.factor - 1) < 0.03 && (factor === 1) === (this.factor === 1)) return;
    this.factor = factor;
    for (const fit of this.fitters) fit(factor);
  }

  // text returns the whole picture as a file, with its colours written out: other programs know no variables of CSS.
  text() {
    const { width, height } = this.shown.placed;
    for (const fit of this.fitters) fit(1);
    const layer = this.canvas.layer.cloneNode(true);
    const copies = [...layer.querySelectorAll('*')];
    [...this.canvas.layer.querySelectorAll('*')].forEach((e, i) => styleOf(e, copies[i]));
    for (const fit of this.fitters) fit(this.factor);
    layer.setAttribute('transform', 'translate(16 16)');
    const [w, h] = [Math.ceil(width + 32), Math.ceil(height + 32)];
    const back = getComputedStyle(this.canvas.element).backgroundColor;
    return new XMLSerializer().serializeToString(svg('svg', { xmlns: 'http://www.w3.org/2000/svg', width: w, height: h, viewBox: `0 0 ${w} ${h}` }, svg('rect', { width: w, height: h, fill: back }), layer));
  }
}

// styled are the properties of CSS that are also attributes of SVG.
const styled = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linecap', 'paint-order', 'font-size', 'font-family', 'font-weight', 'display'];

// styleOf writes the style of an element into attributes of a copy.
function styleOf(e, copy) {
  const style = getComputedStyle(e);
  copy.removeAttribute('style');
  for (const name of styled) {
    const mixed = /^color\(srgb ([\d.]+) ([\d.]+) ([\d.]+)/.exec(style.getPropertyValue(name));
    copy.setAttribute(name, mixed ? `rgb(${mixed.slice(1).map((x) => Math.round(255 * x)).join(',')})` : style.getPropertyValue(name));
  }
}
