// Pictures of graphs. Graphviz says where things are, and never sees a name: its nodes are numbers of some width.
import { el, svg, clear } from './dom.js';

let module;
const program = () => (module ??= (async () => {
  const response = await fetch('graphviz.bin');
  const body = response.body.pipeThrough(new DecompressionStream('gzip'));
  return WebAssembly.compileStreaming(new Response(body, { headers: { 'Content-Type': 'application/wasm' } }));
})());

let worker;
async function plain(dot) {
  const compiled = await program();
  worker?.terminate();
  worker = new Worker('graphviz-worker.js');
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => (data.error ? reject(new Error(data.error)) : resolve(data.plain));
    worker.onerror = (e) => { e.preventDefault(); reject(new Error('the graph could not be laid out')); };
    worker.postMessage({ module: compiled, dot });
  });
}

const manyEdges = 150; // from here on edges are straight lines

// layout places nodes {width, height, shape} in pixels and edges {from, to, text}. A shape is one of Graphviz; by default it is a box.
export async function layout(nodes, edges) {
  // Many edges take Graphviz minutes as curves, and seconds as lines.
  const quick = edges.length > manyEdges ? 'nslimit=1;nslimit1=1;mclimit=0.2;splines=line;' : '';
  const out = [`digraph{rankdir=LR;nodesep=0.25;ranksep=0.6;${quick}node[shape=box,fixedsize=true,label=""];edge[fontname=Courier,fontsize=10];`];
  nodes.forEach((n, i) => out.push(`n${i}[width=${n.width / 72},height=${n.height / 72}${n.shape ? `,shape=${n.shape}` : ''}];`));
  edges.forEach((e) => out.push(`n${e.from}->n${e.to}${e.text ? `[label="${'x'.repeat(Math.min(e.text.length, 30))}"]` : ''};`));
  out.push('}');
  const lines = (await plain(out.join('\n'))).split('\n').map((l) => l.split(' '));
  const [, , width, height] = lines[0].map(Number);
  const x = (v) => Number(v) * 72;
  const y = (v) => (height - Number(v)) * 72;
  const waiting = new Map();
  edges.forEach((e, i) => { const k = `n${e.from} n${e.to}`; waiting.set(k, [...(waiting.get(k) || []), i]); });
  const placed = { width: width * 72, height: height * 72, nodes: [], edges: [] };
  for (const l of lines) {
    if (l[0] === 'node') placed.nodes[Number(l[1].slice(1))] = { x: x(l[2]), y: y(l[3]) };
    if (l[0] !== 'edge') continue;
    const n = Number(l[3]);
    const points = [];
    for (let i = 0; i < n; i++) points.push([x(l[4 + 2 * i]), y(l[5 + 2 * i])]);
    const i = waiting.get(`${l[1]} ${l[2]}`).shift();
    placed.edges[i] = { points, text: edges[i].text ? [x(l[5 + 2 * n]), y(l[6 + 2 * n])] : null };
  }
  return placed;
}

// Shapes tell labels and series apart without colours.
export const shapes = [
  (s) => svg('circle', { r: s }), (s) => svg('rect', { x: -s, y: -s, width: 2 * s, height: 2 * s }), (s) => svg('path', { d: `M0 ${-s * 1.2}L${s * 1.1} ${s * 0.8}H${-s * 1.1}Z` }),
  (s) => svg('path', { d: `M0 ${-s * 1.3}L${s * 1.3} 0L0 ${s * 1.3}L${-s * 1.3} 0Z` }), (s) => svg('path', { d: `M${-s * 1.1} ${-s * 0.8}H${s * 1.1}L0 ${s * 1.2}Z` }),
  (s) => svg('path', { d: `M${-s} ${-s * 0.35}H${-s * 0.35}V${-s}H${s * 0.35}V${-s * 0.35}H${s}V${s * 0.35}H${s * 0.35}V${s}H${-s * 0.35}V${s * 0.35}H${-s}Z` }),
  (s) => svg('path', { d: `M${-s} 0L${-s / 2} ${-s}H${s / 2}L${s} 0L${s / 2} ${s}H${-s / 2}Z` }), (s) => svg('path', { d: `M${-s} ${-s}L${s} ${s}M${-s} ${s}L${s} ${-s}`, 'stroke-width': 3 }),
];

// badge is the mark of the label of that number.
export function badge(i, size = 6) {
  const b = shapes[i % shapes.length](size);
  b.style.cssText = `fill:var(--c${i % 8});stroke:var(--c${i % 8})`;
  return b;
}

export function legendOf(labels) {
  return el('ul', { class: 'legend', 'aria-label': 'Labels' }, labels.map((name, i) => el('li', {}, svg('svg', { width: 16, height: 16, viewBox: '-8 -8 16 16', 'aria-hidden': 'true' }, badge(i)), name)));
}

// Canvas is a picture that is moved and zoomed by mouse, touch and keys. zoomed is called after every change of the scale.
export class Canvas {
  constructor(name, zoomed = () => {}) {
    this.layer = svg('g');
    this.element = svg('svg', { class: 'graph', role: 'group', 'aria-label': name, tabindex: 0 }, this.layer);
    this.at = { x: 0, y: 0, k: 1 };
    this.least = 0.75; // the scale below which a picture is not shown as a whole, unless one asks for it
    this.moved = false; // whether the user moved or zoomed the picture
    this.whole = false; // whether the user wants to see the whole picture, however small
    this.zoomed = zoomed;
    const s = this.element;
    new ResizeObserver(() => { if (this.width && s.clientWidth && !this.moved) this.frame(); }).observe(s);
    s.addEventListener('wheel', (e) => { e.preventDefault(); this.zoom(Math.exp(-e.deltaY / 400), e.offsetX, e.offsetY); }, { passive: false });
    const held = new Map();
    s.addEventListener('pointerdown', (e) => { if (e.target.closest('.node')) return; held.set(e.pointerId, [e.clientX, e.clientY]); s.setPointerCapture(e.pointerId); });
    s.addEventListener('pointermove', (e) => {
      const last = held.get(e.pointerId);
      if (!last) return;
      const others = [...held].filter(([id]) => id !== e.pointerId).map(([, p]) => p);
      if (others.length) {
        const d = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
        const box = s.getBoundingClientRect();
        this.zoom(d([e.clientX, e.clientY], others[0]) / d(last, others[0]), others[0][0] - box.x, others[0][1] - box.y);
      } else this.move(e.clientX - last[0], e.clientY - last[1]);
      held.set(e.pointerId, [e.clientX, e.clientY]);
    });
    for (const end of ['pointerup', 'pointercancel']) s.addEventListener(end, (e) => held.delete(e.pointerId));
    s.addEventListener('keydown', (e) => {
      const move = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[e.key];
      const zoom = { '+': 1.25, '=': 1.25, '-': 0.8 }[e.key];
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      if (move) this.move(...move); else if (zoom) this.zoom(zoom); else if (e.key === '0') this.fit(); else return;
      e.preventDefault();
    });
  }

  place() {
    this.layer.setAttribute('transform', `translate(${this.at.x} ${this.at.y}) scale(${this.at.k})`);
    if (this.scale !== this.at.k) { this.scale = this.at.k; this.zoomed(this.scale); }
  }

  // start forgets what the user did to the picture.
  start() { this.moved = this.whole = false; }

  move(x, y) {
    this.moved = true;
    this.whole = false;
    this.at = { ...this.at, x: this.at.x + x, y: this.at.y + y };
    this.place();
  }

  // zoom changes the scale by a factor around a point, by default the middle.
  zoom(by, x = this.element.clientWidth / 2, y = this.element.clientHeight / 2) {
    const k = Math.min(4, Math.max(0.05, this.at.k * by));
    this.moved = true;
    this.whole = false;
    this.at = { k, x: x - (x - this.at.x) * (k / this.at.k), y: y - (y - this.at.y) * (k / this.at.k) };
    this.place();
  }

  // fit shows the whole picture, also when it changes.
  fit() {
    this.moved = false;
    this.whole = true;
    this.scaleToFit();
  }

  scaleToFit() {
    const { width, height } = this;
    const w = this.element.clientWidth || 800;
    const h = this.element.clientHeight || 500;
    const k = Math.min(1.3, (w - 24) / width, (h - 24) / height);
    this.at = { k, x: (w - width * k) / 2, y: (h - height * k) / 2 };
    this.place();
  }

  // draw shows a picture. If the user has moved the one before, the scale stays, and what was at the place before stays where it is on the screen.
  draw(width, height, parts, place, before) {
    clear(this.layer, ...parts);
    Object.assign(this, { width, height, center: place });
    if (!this.moved) { this.frame(); return; }
    const { k, x, y } = this.at;
    if (before) this.at = { k, x: x + (before.x - place.x) * k, y: y + (before.y - place.y) * k };
    this.place();
    if (!before) this.reveal(place);
  }

  // reveal moves the picture if a place is outside of what is seen.
  reveal(place) {
    const [w, h] = [this.element.clientWidth || 800, this.element.clientHeight || 500];
    const { k } = this.at;
    const inside = (size, at) => at > 40 && at < size - 40;
    const [x, y] = [this.at.x + place.x * k, this.at.y + place.y * k];
    if (inside(w, x) && inside(h, y)) return;
    this.at = { k, x: w / 2 - place.x * k, y: h / 2 - place.y * k };
    this.place();
  }

  // frame shows the whole picture, or, if it would be too small to read, what is around the place.
  frame() {
    const { width, height, center: place, least } = this;
    this.scaleToFit();
    const [w, h] = [this.element.clientWidth || 800, this.element.clientHeight || 500];
    if (!place || this.whole || this.at.k >= least) return;
    const center = (size, whole, at) => (whole * least < size ? (size - whole * least) / 2 : Math.min(12, Math.max(size - 12 - whole * least, size / 2 - at * least)));
    this.at = { k: least, x: center(w, width, place.x), y: center(h, height, place.y) };
    this.place();
  }
}

// curve draws an edge with its tip.
export function curve(points, cls = '') {
  const [p, ...rest] = points;
  let d = `M${p[0]} ${p[1]}`;
  for (let i = 0; i + 2 < rest.length; i += 3) d += `C${rest.slice(i, i + 3).map((q) => q.join(' ')).join(',')}`;
  const [a, b] = points.slice(-2);
  const angle = Math.atan2(b[1] - a[1], b[0] - a[0]) * 180 / Math.PI;
  return [svg('path', { d, class: 'edge ' + cls }), svg('path', { d: 'M8 0L-2 -4.5L-2 4.5Z', class: 'tip ' + cls, transform: `translate(${b[0]} ${b[1]}) rotate(${angle})` })];
}
