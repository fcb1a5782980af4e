// A tour of the page for its first visitors: one example with open constants, from the model to a link. It stands above the view and covers nothing.
import { el, clear, button } from './dom.js';
import { doc } from './document.js';
import { attempt } from './status.js';

const place = document.getElementById('tour');
const example = 'channel.prism';
const seenKey = 'tour';

// pressed presses the button of the view with a name.
const pressed = (name) => () => [...document.querySelectorAll('#main button')].find((b) => b.textContent === name || b.getAttribute('aria-label') === name)?.click();

// Each step has a view, the selector of what it is about, a text, and for some what "Do it" does.
const steps = [
  { view: 'model', at: '.editor', text: 'This is a model in PRISM\'s language: a sender who tries to get a message through a lossy channel. Change it as you like: what is wrong is said while you type.' },
  { view: 'model', at: '#constants', text: 'The constants tries and loss have no value in the text. They get one here, for all views. A value can be a range such as 1:9, or a list.', act: () => { doc.give('tries', '4'); doc.give('loss', '0.25'); } },
  { view: 'model', at: '.results', text: '"Check all" computes the properties. The table has the value, its half-width, and how it was obtained.', act: pressed('Check all') },
  { view: 'explore', at: '.graph', text: 'These are the states. A click, or Enter, expands one. "Why?" beside a result shows here the paths that explain it.', act: pressed('Expand all') },
  { view: 'simulate', at: 'main .panel', text: 'Here one takes steps by hand or at random, and goes back to any row of the path.', act: pressed('Random steps') },
  { view: 'experiments', at: '#constants', text: 'With a range for a constant, an experiment draws a property over its values, while they are computed.', act: async () => { doc.give('tries', '1:9'); await doc.diagnosed(); pressed('Run')(); } },
  { view: 'model', at: '.openers', text: 'That is all. "New" begins a model of your own, and "Open an example…" has others. "Link…" at the top gives a link with the whole model in it. "?" lists the keys.' },
];

let shown = -1; // the number of the step, -1 for none
let show = null; // shows a view

function mark(selector) {
  for (const e of document.querySelectorAll('.toured')) e.classList.remove('toured');
  if (selector) document.querySelector(selector)?.classList.add('toured');
}

async function go(i) {
  shown = i;
  const step = steps[i];
  await show(step.view);
  if (shown !== i) return;
  mark(step.at);
  const next = i + 1 < steps.length ? button('Next', attempt(() => go(i + 1)), { class: 'small main' }) : button('End the tour', end, { class: 'small main' });
  clear(place, el('span', { class: 'text' }, el('strong', {}, `${i + 1} of ${steps.length} `), step.text),
    el('span', { class: 'row' }, step.act && button('Do it', attempt(step.act), { class: 'small' }), i > 0 && button('Back', attempt(() => go(i - 1)), { class: 'small' }), next,
      i + 1 < steps.length && button('End the tour', end, { class: 'small' })));
  place.hidden = false;
  next.focus();
}

function end() {
  shown = -1;
  mark(null);
  remember();
  place.hidden = true;
}

function remember() {
  try { localStorage.setItem(seenKey, 'seen'); } catch { /* not allowed: it is offered again */ }
}

// startTour opens the example, and begins. showView(name) shows a view.
export async function startTour(showView) {
  show = showView;
  remember();
  doc.open(doc.examples.find((x) => x.name === example));
  await doc.diagnosed();
  await go(0);
}

// offerTour asks first visitors whether they want the tour.
export function offerTour(start) {
  if (localStorage.getItem(seenKey)) return;
  clear(place, el('span', { class: 'text' }, 'Is this your first visit? A tour shows in seven steps what one can do here.'),
    el('span', { class: 'row' }, button('Start the tour', attempt(start), { class: 'small main' }), button('No, thanks', end, { class: 'small' })));
  place.hidden = false;
  doc.addEventListener('change', () => { place.hidden = true; }, { once: true }); // who begins to work needs none
}
