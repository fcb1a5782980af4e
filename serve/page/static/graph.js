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

// layout places nodes {width, height} in pixels and edges {from, to, text}.
export async function layout(nodes, edges) {
  const out = ['digraph{rankdir=LR;nodesep=0.25;ranksep=0.6;node[shape=box,fixedsize=true,label=""];edge[fontname=Courier,fontsize=10];'];
  nodes.forEach((n, i) => out.push(`n${i}[width=${n.width / 72},height=${n.height / 72}${n.round ? ',shape=ellipse' : ''}];`));
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

// least is how far a picture is made smaller at most, unless one asks for more.
const least = 0.5;

// Canvas is a picture that is moved and zoomed by mouse, touch and keys.
export class Canvas {
  constructor(name) {
    this.layer = svg('g');
    this.element = svg('svg', { class: 'graph', role: 'group', 'aria-label': name, tabindex: 0 }, this.layer);
    this.at = { x: 0, y: 0, k: 1 };
    const s = this.element;
    new ResizeObserver(() => { if (this.width && s.clientWidth) this.frame(); }).observe(s);
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
      } else { this.at.x += e.clientX - last[0]; this.at.y += e.clientY - last[1]; this.place(); }
      held.set(e.pointerId, [e.clientX, e.clientY]);
    });
    for (const end of ['pointerup', 'pointercancel']) s.addEventListener(end, (e) => held.delete(e.pointerId));
    s.addEventListener('keydown', (e) => {
      const move = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[e.key];
      const zoom = { '+': 1.25, '=': 1.25, '-': 0.8 }[e.key];
      if (move) { this.at.x += move[0]; this.at.y += move[1]; this.place(); } else if (zoom) this.zoom(zoom, s.clientWidth / 2, s.clientHeight / 2); else if (e.key === '0') this.fit(); else return;
      e.preventDefault();
    });
  }

  place() { this.layer.setAttribute('transform', `translate(${this.at.x} ${this.at.y}) scale(${this.at.k})`); }

  zoom(by, x, y) {
    const k = Math.min(4, Math.max(0.05, this.at.k * by));
    this.at = { k, x: x - (x - this.at.x) * (k / this.at.k), y: y - (y - this.at.y) * (k / this.at.k) };
    this.place();
  }

  fit() {
    const { width, height } = this;
    const w = this.element.clientWidth || 800;
    const h = this.element.clientHeight || 500;
    const k = Math.min(1.3, (w - 24) / width, (h - 24) / height);
    this.at = { k, x: (w - width * k) / 2, y: (h - height * k) / 2 };
    this.place();
  }

  // draw shows a picture; of one that would be too small to read, what is around a place.
  draw(width, height, parts, place) {
    clear(this.layer, ...parts);
    Object.assign(this, { width, height, center: place });
    this.frame();
  }

  frame() {
    const { width, height, center: place } = this;
    this.fit();
    const [w, h] = [this.element.clientWidth || 800, this.element.clientHeight || 500];
    if (!place || this.at.k >= least) return;
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
