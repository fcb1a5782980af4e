// Charts of numbers with their intervals. Series differ in colour, in dashes and in marks.
import { el, svg, clear, button, number, interval, download } from './dom.js';
import { badge } from './graph.js';

const dashes = ['', '7 4', '2 4', '10 3 2 3', '4 2', '12 4', '1 3', '6 2 1 2'];

export class Plot {
  constructor(name, { x = '', y = '', log = false, ticks = null, range = null } = {}) {
    Object.assign(this, { name, x, y, log, ticks, range, series: [], zoomed: null });
    this.read = el('p', { class: 'soft', role: 'status' });
    this.svg = svg('svg', { class: 'plot', viewBox: '0 0 860 420', role: 'group', 'aria-label': name, tabindex: 0 });
    this.legend = el('ul', { class: 'legend', 'aria-label': 'Series' });
    this.element = el('figure', { style: 'margin:0' }, this.svg, this.legend, this.read,
      el('div', { class: 'row' }, button('Zoom in', () => this.zoom(0.6)), button('Zoom out', () => this.zoom(1 / 0.6)), button('Show all', () => { this.zoomed = null; this.draw(); }),
        button('Save SVG', () => download(name + '.svg', this.text(), 'image/svg+xml')), button('Save CSV', () => download(name + '.csv', this.csv(), 'text/csv'))));
    this.svg.addEventListener('pointermove', (e) => this.near(e));
    this.svg.addEventListener('wheel', (e) => { if (!e.ctrlKey && !e.shiftKey) return; e.preventDefault(); this.zoom(Math.exp(e.deltaY / 400)); }, { passive: false });
    this.svg.addEventListener('keydown', (e) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      const all = this.points();
      if (step && all.length) { this.at = ((this.at ?? -1) + step + all.length) % all.length; this.show(all[this.at]); } else if (e.key === '+') this.zoom(0.6); else if (e.key === '-') this.zoom(1 / 0.6); else if (e.key === '0') { this.zoomed = null; this.draw(); } else return;
      e.preventDefault();
    });
  }

  // series are {name, points: [{x, y, lo, hi}], hollow, gaps}; hollow ones are others' numbers, and those with gaps have points only at some of the steps.
  set(series) { this.series = series; this.draw(); }

  points() { return this.series.flatMap((s) => s.points.map((p) => ({ ...p, series: s }))).filter((p) => Number.isFinite(p.y)).sort((a, b) => a.x - b.x); }

  zoom(by) {
    const [a, b] = this.zoomed || this.xs();
    const middle = this.last?.x ?? (a + b) / 2;
    this.zoomed = [middle - (middle - a) * by, middle + (b - middle) * by];
    this.draw();
  }

  xs() {
    const all = this.points().map((p) => p.x);
    if (!all.length) return [0, 1];
    const [a, b] = [Math.min(...all), Math.max(...all)];
    return a === b ? [a - 0.5, b + 0.5] : [a - (b - a) * 0.03, b + (b - a) * 0.03];
  }

  draw() {
    const box = { l: 64, r: 844, t: 14, b: 370 };
    const xs = this.zoomed || this.xs();
    const seen = this.points().filter((p) => p.x >= xs[0] && p.x <= xs[1]);
    let ys = this.range;
    if (!ys || this.log) {
      const all = seen.flatMap((p) => [p.y, p.lo, p.hi]).filter((v) => Number.isFinite(v) && (!this.log || v > 0));
      ys = all.length ? [Math.min(...all), Math.max(...all)] : [0.1, 1];
      if (ys[0] === ys[1]) ys = this.log ? [ys[0] / 2, ys[1] * 2] : [ys[0] - 0.5, ys[1] + 0.5];
      if (!this.log) ys = [ys[0] - (ys[1] - ys[0]) * 0.06, ys[1] + (ys[1] - ys[0]) * 0.06];
      else ys = [Math.max(ys[0] * 0.8, 1e-6), ys[1] * 1.15];
    }
    const f = this.log ? Math.log10 : (v) => v;
    const px = (v) => box.l + (v - xs[0]) / (xs[1] - xs[0]) * (box.r - box.l);
    const py = (v) => box.b - (f(Math.max(v, this.log ? ys[0] : v)) - f(ys[0])) / (f(ys[1]) - f(ys[0])) * (box.b - box.t);
    Object.assign(this, { px, py });
    const parts = [];
    for (const v of this.log ? logTicks(ys) : ticks(ys)) parts.push(svg('line', { class: 'grid', x1: box.l, x2: box.r, y1: py(v), y2: py(v) }), svg('text', { x: box.l - 8, y: py(v) + 4, 'text-anchor': 'end' }, number(v, 4)));
    for (const t of this.ticks || ticks(xs).map((v) => [v, number(v, 4)])) if (t[0] >= xs[0] && t[0] <= xs[1]) parts.push(svg('line', { class: 'grid', x1: px(t[0]), x2: px(t[0]), y1: box.t, y2: box.b }), svg('text', { x: px(t[0]), y: box.b + 18, 'text-anchor': 'middle' }, t[1]));
    parts.push(svg('rect', { x: box.l, y: box.t, width: box.r - box.l, height: box.b - box.t, fill: 'none', class: 'axis' }), svg('text', { x: (box.l + box.r) / 2, y: 408, 'text-anchor': 'middle' }, this.x), svg('text', { x: 16, y: (box.t + box.b) / 2, 'text-anchor': 'middle', transform: `rotate(-90 16 ${(box.t + box.b) / 2})` }, this.y));
    this.series.forEach((s, i) => {
      const c = s.color ?? i;
      const stroke = `stroke:var(--c${c % 8});fill:none;stroke-width:2`;
      const pts = s.points.filter((p) => Number.isFinite(p.y) && p.x >= xs[0] && p.x <= xs[1]).sort((a, b) => a.x - b.x);
      for (const p of pts) if (p.hi > p.lo) parts.push(svg('path', { d: `M${px(p.x) - 4} ${py(p.lo)}h8M${px(p.x)} ${py(p.lo)}V${py(p.hi)}M${px(p.x) - 4} ${py(p.hi)}h8`, style: stroke + (s.hollow ? ';stroke-dasharray:2 2' : '') }));
      if (!s.hollow) parts.push(svg('path', { d: pts.map((p, j) => `${j && !(s.gaps && p.x - pts[j - 1].x > 1) ? 'L' : 'M'}${px(p.x)} ${py(p.y)}`).join(''), style: stroke, 'stroke-dasharray': dashes[c % 8] || null }));
      if (pts.length <= 120) for (const p of pts) { const b = badge(c, s.hollow ? 6 : 4.5); b.setAttribute('transform', `translate(${px(p.x)} ${py(p.y)})`); if (s.hollow) b.style.fill = 'var(--panel)'; parts.push(b); }
    });
    this.cross = svg('g');
    clear(this.svg, parts, this.cross);
    clear(this.legend, this.series.map((s, i) => { const c = s.color ?? i; const b = badge(c, 5); if (s.hollow) b.style.fill = 'var(--panel)'; return el('li', {}, svg('svg', { width: 34, height: 14, viewBox: '-17 -7 34 14', 'aria-hidden': 'true' }, s.hollow ? null : svg('path', { d: 'M-16 0H16', style: `stroke:var(--c${c % 8});stroke-width:2`, 'stroke-dasharray': dashes[c % 8] || null }), b), s.name); }));
  }

  near(e) {
    const r = this.svg.getBoundingClientRect();
    const x = (e.clientX - r.x) / r.width * 860; const y = (e.clientY - r.y) / r.height * 420;
    let best = null; let d = 1600;
    for (const p of this.points()) { const q = (this.px(p.x) - x) ** 2 + (this.py(p.y) - y) ** 2; if (q < d) { d = q; best = p; } }
    if (best) this.show(best);
  }

  show(p) {
    this.last = p;
    const tick = this.ticks?.find((t) => t[0] === p.x);
    this.read.textContent = `${p.series.name}: ${this.x || 'x'} ${tick ? tick[1] : number(p.x)}, ${this.y || 'y'} ${number(p.y, 8)}${p.hi > p.lo ? ` in ${interval(p.lo, p.hi, 6)}` : ''}`;
    clear(this.cross, svg('circle', { cx: this.px(p.x), cy: this.py(p.y), r: 10, style: 'fill:none;stroke:var(--focus);stroke-width:2' }));
  }

  text() {
    const style = getComputedStyle(document.documentElement);
    const own = `text{fill:${style.getPropertyValue('--text')};font:12px sans-serif}.axis{stroke:${style.getPropertyValue('--strong-line')}}.grid{stroke:${style.getPropertyValue('--line')}}`;
    return new XMLSerializer().serializeToString(this.svg).replace('>', `><style>${own}</style>`).replace(/var\((--[a-z0-9-]+)\)/g, (_, n) => style.getPropertyValue(n).trim());
  }

  csv() {
    const cell = (v) => (/[",\n]/.test(v) ? `"${String(v).replaceAll('"', '""')}"` : String(v ?? ''));
    return ['series,x,value,lower,upper', ...this.points().map((p) => [p.series.name, p.x, p.y, p.lo, p.hi].map(cell).join(','))].join('\n') + '\n';
  }
}

function ticks([a, b]) {
  const step = 10 ** Math.floor(Math.log10((b - a) / 4));
  const by = [1, 2, 5, 10].map((m) => m * step).find((s) => (b - a) / s <= 7) || step * 10;
  const out = [];
  for (let v = Math.ceil(a / by) * by; v <= b + by / 1e6; v += by) out.push(Number(v.toPrecision(12)));
  return out;
}

function logTicks([a, b]) {
  const out = [];
  for (let e = Math.floor(Math.log10(a)); e <= Math.ceil(Math.log10(b)); e++) for (const m of [1, 2, 5]) { const v = m * 10 ** e; if (v >= a && v <= b) out.push(v); }
  return out.length > 12 ? out.filter((v) => Number.isInteger(Math.log10(v))) : out;
}
