// How series look: colours, marks and dashes. The numbers of colours and of marks have no common divisor, so that no two of the first 132 series have
// both in common.
import { svg } from './dom.js';
import { shapes } from './graph.js';

export const colors = 12;

const more = [
  (s) => svg('path', { d: star(5, s * 1.35, s * 0.6) }),
  (s) => svg('path', { d: `M${-s} ${-s}H${s}L${-s} ${s}H${s}Z` }), // an hourglass
  (s) => svg('path', { d: star(3, s * 1.4, s * 0.45) }),
];
const marks = [...shapes, ...more];

// star returns the path of a star with n points between two circles.
function star(n, outer, inner) {
  const corners = Array.from({ length: 2 * n }, (_, i) => {
    const [r, a] = [i % 2 ? inner : outer, (i / n - 0.5) * Math.PI];
    return `${(r * Math.cos(a)).toFixed(2)} ${(r * Math.sin(a)).toFixed(2)}`;
  });
  return `M${corners.join('L')}Z`;
}

const dashes = [null, '7 4', '2 4', '10 3 2 3', '4 2', '12 4', '1 3'];

// look returns the colour and the dashes of series number i.
export const look = (i) => ({ color: `var(--s${i % colors})`, dashes: dashes[i % dashes.length] });

// mark returns the mark of series number i.
export function mark(i, size = 4.5, hollow = false) {
  const shape = marks[i % marks.length](size);
  const { color } = look(i);
  shape.style.cssText = `fill:${hollow ? 'var(--panel)' : color};stroke:${color}`;
  return shape;
}
