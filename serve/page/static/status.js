// What the page says: one line about the last event, a message that stays until it is answered, and the list of running jobs.
import { el, clear, button, number } from './dom.js';

const line = document.getElementById('status');
const notice = document.getElementById('notice');
const list = document.getElementById('jobs');

export const status = {
  say(text) { line.textContent = text; line.className = ''; },
  error(e) {
    if (e?.name === 'AbortError') { this.say('Stopped.'); return; }
    line.textContent = '✕ ' + (e?.message || e);
    line.className = 'bad';
  },
};

// tell shows a message that stays until a button of it is pressed. actions are pairs of a title and a function.
export function tell(text, actions = [], bad = true) {
  notice.className = bad ? 'error' : 'note';
  clear(notice, el('span', {}, text), actions.map(([title, act]) => button(title, () => { untell(); act(); }, { class: 'small' })),
    button('Dismiss', untell, { class: 'small' }));
  notice.hidden = false;
}

export function untell() { notice.hidden = true; clear(notice); }

// refuse says that something could not be done, where it cannot be overlooked.
export function refuse(e, actions) {
  if (e?.name === 'AbortError') return;
  status.error(e);
  tell(e?.message || String(e), actions);
}

const jobs = new Map(); // by what they are for
addEventListener('pagehide', () => { for (const job of jobs.values()) job.control.abort(); });

const clock = (ms) => (ms < 60000 ? `${Math.floor(ms / 1000)} s` : `${Math.floor(ms / 60000)} min ${Math.floor(ms / 1000) % 60} s`);

// A job of the list: its title, how far it is, its clock, and a button that ends it.
function listed(title, control) {
  const far = el('span', { class: 'soft' });
  const time = el('span', { class: 'soft mono' });
  const begun = performance.now();
  const tick = () => { time.textContent = clock(performance.now() - begun); };
  tick();
  const timer = setInterval(tick, 500);
  const row = el('li', {}, el('span', {}, title), far, time, button('Stop', () => control.abort(), { class: 'small', 'aria-label': 'Stop ' + title }));
  list.append(row);
  return {
    control,
    progress(p) { far.textContent = progressText(p); },
    wait(yes) { far.textContent = yes ? 'waits until other work is done' : ''; },
    end() { clearInterval(timer); row.remove(); },
  };
}

function progressText(p) {
  const of = p.target ? ` of ${p.target.toLocaleString('en')}` : '';
  const value = p.half_width ? `, ${number(p.estimate, 4)} ± ${number(p.half_width, 2)}` : '';
  return `${p.property ? p.property + ': ' : ''}${p.done.toLocaleString('en')}${of} ${p.unit || ''}${value}${p.detail ? ', ' + p.detail : ''}`;
}

// work runs f(signal, part) in the background, in the list of jobs. Jobs for different purposes run side by side; a new one ends the one before it for the
// same purpose. A quiet job says nothing in the status line.
export async function work(title, f, purpose = title, quiet = false) {
  jobs.get(purpose)?.control.abort();
  const job = listed(title, new AbortController());
  jobs.set(purpose, job);
  const newest = () => jobs.get(purpose) === job;
  if (!quiet) status.say(title + '…');
  try {
    const result = await f(job.control.signal, (name, value) => { if (name === 'progress') job.progress(value); else if (name === 'waiting') job.wait(value); });
    if (newest() && !quiet) status.say(title + ': done.');
    return result;
  } catch (e) {
    if (newest()) status.error(e);
    e.shown = true;
    throw e;
  } finally {
    job.end();
    if (newest()) jobs.delete(purpose);
  }
}

// stop ends the job for a purpose, if it runs.
export function stop(purpose) { jobs.get(purpose)?.control.abort(); }

// attempt makes a handler of events of f: an error that nothing has shown yet is a message that stays.
export const attempt = (f) => async (...args) => {
  try { return await f(...args); } catch (e) {
    if (e?.name !== 'AbortError' && !e?.shown) {
      refuse(e);
      if (!e?.expected) console.error(e);
    }
    return undefined;
  }
};
