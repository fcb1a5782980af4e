// Charts of numbers with their intervals. Series differ in colour, in dashes and in marks.
import { el, svg, clear, button, number, interval, download, fresh } from './dom.js';
import { look, mark } from './marks.js';
import { extent, position, inverse, ticks, logTicks } from './scale.js';

const near = 40; // pixels from the pointer to the point that is read out
const most = 120; // points of a series that have marks
const letter = 6.9; // width of a digit, in pixels

export class Plot {
  // x, y and title are texts. ticks are named places on the x axis, pairs of a number and a text. range is a fixed range of the y axis, limits one that
  // it does not leave. intervals is how intervals are drawn: bars, bands or none. rename(series, name) lets names in the legend be edited; csv() returns
  // another text to save.
  constructor(name, { x = '', y = '', title = '', logX = false, logY = false, ticks = null, range = null, limits = null, intervals = 'bars', rename = null, csv = null } = {}) {
    Object.assign(this, { name, x, y, title, logX, logY, ticks, range, limits, intervals, rename, csvText: csv, series: [], zoomed: null, clip: fresh('clip') });
    this.read = el('p', { class: 'soft readout', role: 'status' });
    this.svg = svg('svg', { class: 'plot', role: 'group', 'aria-label': name, tabindex: 0 });
    this.legend = el('ul', { class: 'legend', 'aria-label': 'Series' });
    this.element = el('figure', { style: 'margin:0' }, this.svg, this.read,
      el('div', { class: 'row' }, button('Zoom in', () => this.zoom(0.6)), button('Zoom out', () => this.zoom(1 / 0.6)), button('Show all', () => this.all()),
        button('Save SVG', () => download(name + '.svg', this.picture(), 'image/svg+xml')), button('Save PNG', () => this.savePNG()), button('Save CSV', () => download(name + '.csv', this.csv(), 'text/csv'))),
      this.legend);
    this.svg.addEventListener('wheel', (e) => { if (!e.ctrlKey && !e.shiftKey) return; e.preventDefault(); this.zoom(Math.exp(e.deltaY / 400)); }, { passive: false });
    this.svg.addEventListener('keydown', (e) => { if (this.key(e.key)) e.preventDefault(); });
    this.followPointer();
    new ResizeObserver(() => { if (this.svg.clientWidth && this.width !== this.fit().width) this.draw(); }).observe(this.svg);
    this.draw();
  }

  // set shows series. Each has a name, and points {x, y, lo, hi}; text and disagrees of a point are read out. Those of a hollow series are published numbers. One with
  // gaps has no line between points that are more than 1 apart. One with a frontier is a Pareto curve.
  set(series) { this.series = series; this.draw(); }

  points() { return this.series.flatMap((s) => s.points.map((p) => ({ ...p, series: s }))).filter((p) => Number.isFinite(p.x) && Number.isFinite(p.y)).sort((a, b) => a.x - b.x); }

  // notPositive returns the first point that a logarithmic x or y axis cannot show.
  notPositive(axis) { return this.points().find((p) => !(p[axis] > 0)); }

  all() { this.zoomed = null; this.draw(); }

  // zoom makes the range of the x axis longer by a factor, around the point that is read out.
  zoom(by) {
    const { x } = this.ranges;
    const middle = this.shown?.x ?? inverse(0.5, x, 0, 1, this.logX);
    const at = position(middle, x, 0, 1, this.logX);
    this.zoomed = { x: [inverse(at - at * by, x, 0, 1, this.logX), inverse(at + (1 - at) * by, x, 0, 1, this.logX)] };
    this.draw();
  }

  // key does what a key asks for, and reports whether it is one of the plot.
  key(name) {
    const points = this.points();
    const at = points.findIndex((p) => p.series.name === this.shown?.series.name && p.x === this.shown.x && p.y === this.shown.y);
    const here = points[at];
    const own = points.filter((p) => p.series === here?.series);
    const go = {
      ArrowRight: () => (here ? own[Math.min(own.indexOf(here) + 1, own.length - 1)] : points[0]),
      ArrowLeft: () => (here ? own[Math.max(own.indexOf(here) - 1, 0)] : points.at(-1)),
      Home: () => own[0] || points[0], End: () => own.at(-1) || points.at(-1),
      ArrowDown: () => this.beside(here, 1) || points[0], ArrowUp: () => this.beside(here, -1) || points[0],
    }[name];
    const change = { '+': () => this.zoom(0.6), '-': () => this.zoom(1 / 0.6), 0: () => this.all() }[name];
    if (change) change();
    if (go && points.length) this.show(go());
    return !!(change || go);
  }

  // beside returns the point of the next series, or of the one before, that is nearest on the x axis.
  beside(p, step) {
    if (!p) return null;
    const filled = this.series.filter((s) => s.points.some((q) => Number.isFinite(q.x) && Number.isFinite(q.y)));
    const next = filled[(filled.indexOf(p.series) + step + filled.length) % filled.length];
    return this.points().filter((q) => q.series === next).reduce((a, b) => (a && Math.abs(a.x - p.x) <= Math.abs(b.x - p.x) ? a : b), null);
  }

  // fit returns the size of the picture: as wide as its place.
  fit() {
    const width = Math.round(Math.min(1100, Math.max(300, this.svg.clientWidth || 860)));
    return { width, height: Math.round(Math.min(460, Math.max(260, width * 0.5))) };
  }

  // xRange returns the range of the x axis of all points, yRange that of the y axis of the points in a range of x.
  xRange() {
    const values = this.points().map((p) => p.x).concat(this.ticks ? [] : this.series.flatMap((s) => (s.frontier?.over || []).map((p) => p[0]))).filter((v) => !this.logX || v > 0);
    return extent(values, { log: this.logX, whole: values.every(Number.isInteger) });
  }

  yRange(x) {
    if (this.range && !this.logY) return this.range;
    const seen = this.points().filter((p) => p.x >= x[0] && p.x <= x[1]).flatMap((p) => (this.intervals === 'none' ? [p.y] : [p.y, p.lo, p.hi]));
    const beyond = this.series.flatMap((s) => (s.frontier?.over || []).map((p) => p[1]));
    const values = [...seen, ...beyond].filter((v) => Number.isFinite(v) && (!this.logY || v > 0));
    return extent(values, { log: this.logY, limits: this.limits });
  }

  draw() {
    Object.assign(this, this.fit());
    const { width, height } = this;
    const x = this.zoomed?.x || this.xRange();
    const y = this.zoomed?.y || this.yRange(x);
    this.ranges = { x, y };
    const yTicks = (this.logY ? logTicks : ticks)(y, { most: Math.floor(height / 45) });
    const box = { l: 34 + letter * Math.max(...yTicks.map(([, t]) => t.length), 1), r: width - 16, t: this.title ? 34 : 12, b: height - 48 };
    this.box = box;
    this.px = (v) => position(v, x, box.l, box.r, this.logX);
    // What a logarithmic axis cannot show is on its edge.
    this.py = (v) => position(this.logY && !(v > y[0]) ? y[0] : v, y, box.b, box.t, this.logY);
    const parts = [];
    const empty = !this.points().length;
    if (empty) parts.push(svg('text', { class: 'soft', x: (box.l + box.r) / 2, y: (box.t + box.b) / 2, 'text-anchor': 'middle' }, 'no results'));
    for (const [v, text] of empty ? [] : yTicks) parts.push(svg('line', { class: 'grid', x1: box.l, x2: box.r, y1: this.py(v), y2: this.py(v) }), svg('text', { class: 'tick y', x: box.l - 8, y: this.py(v) + 4, 'text-anchor': 'end' }, text));
    for (const [v, text] of empty ? [] : this.xTicks(x)) parts.push(svg('line', { class: 'grid', x1: this.px(v), x2: this.px(v), y1: box.t, y2: box.b }), svg('text', { class: 'tick x', x: this.px(v), y: box.b + 18, 'text-anchor': 'middle' }, text));
    parts.push(svg('rect', { x: box.l, y: box.t, width: box.r - box.l, height: box.b - box.t, fill: 'none', class: 'axis' }), svg('text', { class: 'label', x: (box.l + box.r) / 2, y: height - 10, 'text-anchor': 'middle' }, this.x), svg('text', { class: 'label', x: 16, y: (box.t + box.b) / 2, 'text-anchor': 'middle', transform: `rotate(-90 16 ${(box.t + box.b) / 2})` }, this.y));
    if (this.title) parts.push(svg('text', { class: 'title', x: width / 2, y: 21, 'text-anchor': 'middle' }, this.title));
    // Lines end at the axes; a mark may be on an axis as a whole.
    const [content, clips] = [0, 7].map((beyond, i) => {
      const clip = svg('clipPath', { id: `${this.clip}-${i}` }, svg('rect', { x: box.l - beyond, y: box.t - beyond, width: box.r - box.l + 2 * beyond, height: box.b - box.t + 2 * beyond }));
      return [svg('g', { 'clip-path': `url(#${this.clip}-${i})` }), clip];
    }).reduce(([groups, all], [group, clip]) => [[...groups, group], [...all, clip]], [[], []]);
    const each = (f, at = 0) => content[at].append(...this.series.flatMap((s, i) => f(s, s.color ?? i, this.drawn(s))));
    each((s, i, points) => [...(s.frontier ? this.frontier(s, i) : []), ...(this.intervals === 'bands' && points.length > 1 && !s.hollow ? this.band(s, i, points) : [])]);
    each((s, i, points) => (this.intervals === 'bars' || points.length === 1 || s.hollow ? this.bars(s, i, points) : []).concat(s.hollow ? [] : this.line(s, i, points)));
    each((s, i, points) => this.marks(s, i, points), 1);
    this.cross = svg('g');
    this.svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    clear(this.svg, clips, parts, content, this.cross);
    this.drawLegend();
    if (this.shown && this.series.includes(this.shown.series)) this.ring(this.shown);
    else clear(this.read, empty ? '' : 'Point at a mark, or press an arrow key in the plot, to read a value.');
  }

  // drawn returns the points of a series that are to be drawn, in the order of x.
  drawn(s) { return s.points.filter((p) => Number.isFinite(p.y) && Number.isFinite(p.x) && (!this.logX || p.x > 0)).sort((a, b) => a.x - b.x); }

  // xTicks returns the marks of the x axis: as many as there is room for.
  xTicks(x) {
    const room = this.box.r - this.box.l;
    const fits = (list) => list.length * (letter * Math.max(...list.map(([, t]) => t.length), 2) + 14) <= room;
    if (this.ticks) {
      const seen = this.ticks.filter(([v]) => v >= x[0] && v <= x[1]);
      for (let every = 1; ; every++) {
        const some = seen.filter((_, i) => i % every === 0);
        if (some.length < 2 || fits(some)) return some;
      }
    }
    const whole = this.points().every((p) => Number.isInteger(p.x));
    for (let n = Math.min(12, Math.floor(room / 46)); ; n--) {
      const list = this.logX ? logTicks(x, { most: n }) : ticks(x, { most: n, whole });
      if (n < 3 || fits(list)) return list;
    }
  }

  // line joins the points of a series.
  line(s, i, points) {
    const { color, dashes } = look(i);
    const d = points.map((p, j) => `${j && !(s.gaps && p.x - points[j - 1].x > 1) ? 'L' : 'M'}${this.px(p.x)} ${this.py(p.y)}`).join('');
    return [svg('path', { class: 'line', d, style: `stroke:${color};fill:none;stroke-width:2`, 'stroke-dasharray': dashes })];
  }

  // band fills the space between the ends of the intervals.
  band(s, i, points) {
    const known = points.filter((p) => p.hi >= p.lo);
    if (!known.some((p) => p.hi > p.lo)) return [];
    const edge = (list, end) => list.map((p) => `${this.px(p.x)} ${this.py(p[end])}`);
    return [svg('path', { class: 'band', d: `M${[...edge(known, 'hi'), ...edge([...known].reverse(), 'lo')].join('L')}Z`, style: `fill:${look(i).color};fill-opacity:.2;stroke:none` })];
  }

  // bars draws an interval at each point.
  bars(s, i, points) {
    const style = `stroke:${look(i).color};fill:none;stroke-width:1.5${s.hollow ? ';stroke-dasharray:2 2' : ''}`;
    if (this.intervals === 'none') return [];
    return points.filter((p) => p.hi > p.lo).map((p) => svg('path', { class: 'bar', d: `M${this.px(p.x) - 4} ${this.py(p.lo)}h8M${this.px(p.x)} ${this.py(p.lo)}V${this.py(p.hi)}M${this.px(p.x) - 4} ${this.py(p.hi)}h8`, style }));
  }

  // marks draws the marks of the points, and rings where engines disagree.
  marks(s, i, points) {
    const rings = points.filter((p) => p.disagrees).flatMap((p) => disagreement(this.px(p.x), this.py(p.y)));
    if (points.length > most) return rings;
    return [...points.map((p) => svg('g', { transform: `translate(${this.px(p.x)} ${this.py(p.y)})` }, mark(i, s.hollow ? 6 : 4.5, s.hollow))), ...rings];
  }

  // frontier draws what is achievable for sure, and the limit of what may be.
  frontier(s, i) {
    const { under, over, directions } = s.frontier;
    const { l, r, t, b } = this.box;
    const [badX, badY] = [directions[0] === 'max' ? l : r, directions[1] === 'max' ? b : t];
    const outline = (points) => {
      const at = points.map(([x, y]) => [this.px(x), this.py(y)]);
      const [first, last] = [at[0], at.at(-1)];
      const ends = directions[0] === 'max' ? [[badX, first[1]], [last[0], badY]] : [[first[0], badY], [badX, last[1]]];
      return [ends[0], ...at, ends[1]];
    };
    const path = (points) => `M${points.map((p) => p.join(' ')).join('L')}`;
    const { color } = look(i);
    return [svg('path', { class: 'under', d: `${path(outline(under))}L${badX} ${badY}Z`, style: `fill:${color};fill-opacity:.15;stroke:none` }),
      over ? svg('path', { class: 'over', d: path(outline(over)), style: `stroke:${color};fill:none;stroke-width:1.2`, 'stroke-dasharray': '3 3' }) : null].filter(Boolean);
  }

  // drawLegend draws the legend if it has changed: while results come, its buttons stay where they can be clicked on.
  drawLegend() {
    const now = JSON.stringify([this.series.map((s) => [s.key, s.name, s.color, s.hollow, !!s.frontier?.over]), this.points().some((p) => p.disagrees)]);
    if (this.legend.dataset.of === now || this.legend.querySelector('input')) return;
    this.legend.dataset.of = now;
    const rows = this.series.map((s, i) => {
      const c = s.color ?? i;
      const { color, dashes } = look(c);
      const sample = svg('svg', { width: 34, height: 14, viewBox: '-17 -7 34 14', 'aria-hidden': 'true' }, s.hollow ? null : svg('path', { d: 'M-16 0H16', style: `stroke:${color};stroke-width:2`, 'stroke-dasharray': dashes }), mark(c, 5, s.hollow));
      return el('li', {}, sample, this.rename ? button(s.name, (e) => this.edit(e.target, s), { class: 'quiet small name', title: 'Rename', 'aria-label': `Rename the series ${s.name}` }) : s.name);
    });
    if (this.points().some((p) => p.disagrees)) rows.push(el('li', { class: 'disagree' }, svg('svg', { width: 36, height: 26, viewBox: '-11 -16 36 26', 'aria-hidden': 'true' }, disagreement(0, 0)), 'engines disagree here'));
    if (this.series.some((s) => s.frontier)) rows.push(el('li', { class: 'soft' }, this.series.some((s) => s.frontier?.over) ? 'Filled: achievable. Beyond the dotted line: not achievable.' : 'Filled: achievable.'));
    clear(this.legend, rows);
  }

  // edit shows a field in the place of a name. Enter takes the new name, Escape the old one, an empty text the one that the series has by itself.
  edit(place, s) {
    const field = el('input', { type: 'text', 'aria-label': `Name of ${s.name}` });
    field.value = s.name;
    let ended = false;
    const end = (name) => {
      if (ended) return;
      ended = true;
      field.remove();
      delete this.legend.dataset.of;
      if (name !== null) this.rename(s, name.trim());
      this.drawLegend();
      [...this.legend.querySelectorAll('button')][this.series.findIndex((o) => o.key === s.key)]?.focus();
    };
    field.addEventListener('keydown', (e) => {
      if (e.key !== 'Enter' && e.key !== 'Escape') return;
      e.preventDefault(); // the button that has the focus next must not be pressed by the same key
      end(e.key === 'Enter' ? field.value : null);
    });
    field.addEventListener('blur', () => end(field.value));
    place.replaceWith(field);
    field.focus();
    field.select();
  }

  // followPointer reads out the point near the pointer; dragging with a mouse zooms into a rectangle.
  followPointer() {
    let from = null;
    let frame = null;
    const at = (e) => { const r = this.svg.getBoundingClientRect(); return [(e.clientX - r.x) / r.width * this.width, (e.clientY - r.y) / r.height * this.height]; };
    const rectangle = ([a, b], [c, d]) => ({ x: Math.min(a, c), y: Math.min(b, d), width: Math.abs(a - c), height: Math.abs(b - d) });
    this.svg.addEventListener('pointerdown', (e) => { if (e.pointerType === 'mouse' && e.button === 0) from = at(e); });
    this.svg.addEventListener('pointermove', (e) => {
      const to = at(e);
      if (from) {
        const box = rectangle(from, to);
        if (box.width > 8 && box.height > 8) { frame?.remove(); frame = svg('rect', { ...box, class: 'frame' }); this.svg.append(frame); }
        return;
      }
      let best = null; let distance = near ** 2;
      for (const p of this.points()) { const d = (this.px(p.x) - to[0]) ** 2 + (this.py(p.y) - to[1]) ** 2; if (d < distance) { distance = d; best = p; } }
      if (best) this.show(best);
    });
    for (const end of ['pointerup', 'pointerleave', 'pointercancel']) {
      this.svg.addEventListener(end, (e) => {
        if (end === 'pointerup' && from && frame) {
          const [a, b] = [from, at(e)];
          const { l, r, t, b: bottom } = this.box;
          const range = (i, axis, first, last, log) => [inverse(Math.min(a[i], b[i]), axis, first, last, log), inverse(Math.max(a[i], b[i]), axis, first, last, log)];
          const y = range(1, this.ranges.y, bottom, t, this.logY);
          this.zoomed = { x: range(0, this.ranges.x, l, r, this.logX), y: [y[1], y[0]] };
          this.draw();
        }
        frame?.remove();
        from = frame = null;
      });
    }
  }

  // show reads a point out.
  show(p) {
    this.shown = p;
    const tick = this.ticks?.find((t) => t[0] === p.x);
    const value = p.text || `${number(p.y, 8)}${p.hi > p.lo ? ` in ${interval(p.lo, p.hi, 6)}` : ''}`;
    clear(this.read, `${p.series.name}: ${this.x || 'x'} ${p.xText || (tick ? tick[1] : number(p.x))}, ${this.y || 'y'} ${value}`, p.disagrees ? el('strong', { class: 'bad' }, ` ≠ ${p.disagrees}`) : null);
    this.ring(p);
  }

  ring(p) { clear(this.cross, svg('circle', { cx: this.px(p.x), cy: this.py(p.y), r: 10, class: 'ring' })); }

  // picture returns the plot as an SVG image with its legend, in light colours.
  picture() {
    const root = document.documentElement;
    const theme = root.dataset.theme;
    root.dataset.theme = 'light';
    const style = getComputedStyle(root);
    const color = (name) => style.getPropertyValue(name).trim();
    const columns = Math.max(1, Math.floor(this.width / (60 + letter * Math.max(...this.series.map((s) => s.name.length), 1))));
    const rows = Math.ceil(this.series.length / columns);
    const height = this.height + rows * 20 + 10;
    const copy = this.svg.cloneNode(true);
    copy.lastElementChild.remove(); // the ring
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${this.width} ${height}`, width: this.width, height })) copy.setAttribute(name, value);
    for (const name of ['tabindex', 'class', 'role', 'aria-label']) copy.removeAttribute(name);
    const rules = `text{fill:${color('--text')};font:12px "Liberation Sans",Arial,Helvetica,sans-serif}.title{font-size:15px;font-weight:bold}.axis{stroke:${color('--strong-line')}}.grid{stroke:${color('--line')}}.disagree{stroke:${color('--bad')};fill:none}text.disagree{fill:${color('--bad')};stroke:none}`;
    copy.prepend(svg('style', {}, rules), svg('rect', { width: '100%', height: '100%', fill: '#fff' }));
    this.series.forEach((s, i) => {
      const c = s.color ?? i;
      const [x, y] = [30 + (i % columns) * (this.width / columns), this.height + 10 + Math.floor(i / columns) * 20];
      copy.append(svg('g', { transform: `translate(${x} ${y})` }, s.hollow ? null : svg('path', { d: 'M-16 0H16', style: `stroke:${look(c).color};stroke-width:2`, 'stroke-dasharray': look(c).dashes }), mark(c, 5, s.hollow), svg('text', { x: 24, y: 4 }, s.name)));
    });
    const text = new XMLSerializer().serializeToString(copy).replace(/var\((--[a-z0-9-]+)\)/g, (_, name) => color(name));
    if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
    return text;
  }

  // savePNG saves the picture with two dots for each pixel.
  async savePNG() {
    const image = new Image();
    image.src = URL.createObjectURL(new Blob([this.picture()], { type: 'image/svg+xml' }));
    await image.decode();
    const canvas = el('canvas', { width: image.width * 2, height: image.height * 2 });
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(image.src);
    canvas.toBlob((blob) => download(this.name + '.png', blob, 'image/png'));
  }

  csv() {
    if (this.csvText) return this.csvText();
    return csv(['series', 'x', 'value', 'lower', 'upper'], this.points().map((p) => [p.series.name, p.x, p.y, p.lo, p.hi]));
  }
}

// disagreement returns the mark of engines that disagree.
const disagreement = (x, y) => [svg('circle', { cx: x, cy: y, r: 8.5, class: 'disagree', 'stroke-width': 2.5 }), svg('text', { x: x + 10, y: y - 6, class: 'disagree' }, '≠')];

// rowsOfCSV returns the rows of a table that is written as csv writes it, each with its cells and the line on which it begins.
export function rowsOfCSV(text) {
  const rows = [];
  let cells = []; let line = 1; let begun = 1;
  for (const [, quoted, plain, end] of text.replace(/\r\n/g, '\n').matchAll(/(?:"((?:[^"]|"")*)"|([^,\n]*))(,|\n|$)/g)) {
    const cell = quoted === undefined ? plain : quoted.replaceAll('""', '"');
    cells.push(cell.trim().replace(/^'(?=[=+\-@])/, ''));
    line += (cell.match(/\n/g) || []).length;
    if (end === ',') continue;
    if (cells.length > 1 || cells[0] !== '') rows.push({ cells, line: begun });
    line++;
    begun = line;
    cells = [];
  }
  return rows;
}

// csv returns a table as text. A text that a spreadsheet would take for a formula gets an apostrophe in front.
export function csv(columns, rows) {
  const cell = (v) => {
    let text = String(v ?? '');
    if (/^'*[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text.replace(/\/\d+$/, '')))) text = "'" + text;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns, ...rows].map((row) => row.map(cell).join(',')).join('\n') + '\n';
}
