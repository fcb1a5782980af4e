// Numbers on an axis: the range of an axis, where a number is on it, and which round numbers are marked.

// extent returns the range of an axis for numbers. A single number is widened, within limits if they are given; the axis of others ends a little beyond them.
export function extent(values, { log = false, whole = false, limits = null } = {}) {
  if (!values.length) return log ? [0.1, 1] : [0, 1];
  let [low, high] = [Infinity, -Infinity];
  for (const v of values) { low = Math.min(low, v); high = Math.max(high, v); }
  if (log) {
    const beyond = low === high ? 2 : (high / low) ** 0.04;
    return [low / beyond, high * beyond];
  }
  const beyond = low !== high ? (high - low) * 0.04 : whole ? 1 : Math.abs(low) / 10 || 0.5;
  const range = [low - beyond, high + beyond];
  if (!limits) return range;
  const margin = (limits[1] - limits[0]) / 50; // for marks on the limit
  return [Math.max(range[0], limits[0] - margin), Math.min(range[1], limits[1] + margin)];
}

// position returns where a number is on an axis that has a range and is drawn between two coordinates.
export function position(v, [low, high], from, to, log = false) {
  const f = log ? Math.log10 : (x) => x;
  return from + (f(v) - f(low)) / (f(high) - f(low)) * (to - from);
}

// inverse returns the number at a coordinate of an axis.
export function inverse(at, [low, high], from, to, log = false) {
  const part = (at - from) / (to - from);
  return log ? low * (high / low) ** part : low + part * (high - low);
}

// roundStep returns 1, 2 or 5 times a power of ten so that at most most multiples of it are in a range.
function roundStep([low, high], most) {
  const power = 10 ** Math.floor(Math.log10((high - low) / most));
  const step = [1, 2, 5, 10, 20].map((m) => m * power).find((s) => Math.floor(high / s) - Math.ceil(low / s) < most);
  return step || power * 50;
}

// tickText writes a multiple of a step with the digits that it needs.
export function tickText(v, step) {
  const size = Math.max(Math.abs(v), step);
  if (v !== 0 && (size >= 1e7 || step < 1e-6 && size < 1e-3)) return Number(v.toPrecision(Math.min(15, 2 + Math.floor(Math.log10(size / step))))).toExponential().replace('e+', 'e');
  return v.toFixed(Math.min(20, Math.max(0, -Math.floor(Math.log10(step) + 1e-9))));
}

// ticks returns the round numbers to mark in a range, at most most, with their texts. Those of whole numbers are whole.
export function ticks(range, { most = 7, whole = false } = {}) {
  const step = whole ? Math.max(1, roundStep(range, most)) : roundStep(range, most);
  const out = [];
  const rounding = 1e-9 + Math.max(...range.map(Math.abs)) / step * 1e-15;
  for (let i = Math.ceil(range[0] / step - rounding); i <= range[1] / step + rounding; i++) out.push([i * step, tickText(i * step + 0, step)]);
  return out;
}

// logTicks returns the numbers to mark in a range of a logarithmic axis: powers of ten, or 1, 2 and 5 times them, or round numbers in a short range.
export function logTicks(range, { most = 7 } = {}) {
  const [first, last] = range.map((v) => Math.log10(v));
  const powers = (digits, every = 1) => {
    const out = [];
    for (let e = Math.floor(first); e <= Math.ceil(last); e++) {
      if (((e % every) + every) % every) continue;
      for (const m of digits) { const v = Number(`${m}e${e}`); if (v >= range[0] * (1 - 1e-9) && v <= range[1] * (1 + 1e-9)) out.push([v, e < -3 || e > 5 ? `${m}e${e}` : String(v)]); }
    }
    return out;
  };
  const all = powers([1, 2, 5]);
  if (all.length < 3) return ticks(range, { most });
  if (all.length <= most + 3) return all;
  return powers([1], Math.ceil((last - first) / most));
}
