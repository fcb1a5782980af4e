// A bar between two parts of a view, which divides their space.
import { el } from './dom.js';

const least = 20; const most = 85; // percent for the first part

// splitter returns a bar for a box with two parts. It writes the share of the first part into the property --split of the box, and keeps it under a name.
// Where the parts stand one below the other, the bar changes the height of the first one, in percent of the window.
export function splitter(box, name, label) {
  const bar = el('div', { role: 'separator', class: 'splitter', tabindex: 0, 'aria-label': label, 'aria-valuemin': String(least), 'aria-valuemax': String(most) });
  const stacked = matchMedia('(max-width: 900px)');
  const kept = () => `${name} ${stacked.matches ? 'height' : 'width'}`;
  let share;

  function set(percent) {
    share = Math.min(most, Math.max(least, Math.round(percent)));
    box.style.setProperty('--split', share);
    bar.setAttribute('aria-valuenow', String(share));
    bar.setAttribute('aria-orientation', stacked.matches ? 'horizontal' : 'vertical');
    localStorage.setItem(kept(), String(share));
  }
  const restore = () => set(Number(localStorage.getItem(kept())) || 60);

  bar.addEventListener('keydown', (e) => {
    const step = { ArrowLeft: -5, ArrowUp: -5, ArrowRight: 5, ArrowDown: 5, Home: least - share, End: most - share }[e.key];
    if (step === undefined) return;
    e.preventDefault();
    set(share + step);
  });
  bar.addEventListener('pointerdown', (e) => { bar.setPointerCapture(e.pointerId); e.preventDefault(); bar.focus(); });
  bar.addEventListener('pointermove', (e) => {
    if (!bar.hasPointerCapture(e.pointerId)) return;
    const b = box.getBoundingClientRect();
    set(stacked.matches ? 100 * (e.clientY - b.y) / innerHeight : 100 * (e.clientX - b.x) / b.width);
  });
  stacked.addEventListener('change', restore);
  restore();
  return bar;
}
