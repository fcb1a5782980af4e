// What the page is doing, said in one place; and how to end it.
import { number } from './dom.js';

const line = document.getElementById('status');
const cancel = document.getElementById('cancel');
let running = null;
cancel.addEventListener('click', () => running?.abort());
addEventListener('pagehide', () => running?.abort());

export const status = {
  say(text) { line.textContent = text; line.className = ''; },
  error(e) {
    if (e?.name === 'AbortError') { this.say('Cancelled.'); return; }
    line.textContent = '✕ ' + (e?.message || e);
    line.className = 'bad';
  },
  progress(p) {
    const of = p.target ? ` of ${p.target.toLocaleString('en')}` : '';
    const about = p.half_width ? `, ${number(p.estimate, 4)} ± ${number(p.half_width, 2)}` : '';
    this.say(`${p.property ? p.property + ': ' : ''}${p.done.toLocaleString('en')}${of} ${p.unit || ''}${about}…`);
  },
};

// work runs something that can be cancelled. One such thing runs at a time: a new one ends the last.
export async function work(title, f) {
  running?.abort();
  const control = new AbortController();
  running = control;
  cancel.hidden = false;
  status.say(title + '…');
  try {
    const result = await f(control.signal, (name, value) => { if (name === 'progress' && running === control) status.progress(value); });
    if (running === control) status.say(title + ': done.');
    return result;
  } catch (e) {
    if (running === control || e?.name !== 'AbortError') status.error(e);
    throw e;
  } finally {
    if (running === control) { running = null; cancel.hidden = true; }
  }
}

// attempt is for handlers of events: what went wrong has been said.
export const attempt = (f) => async (...args) => { try { return await f(...args); } catch (e) { if (!e?.places && e?.name !== 'AbortError') { status.error(e); console.error(e); } return undefined; } };
