// What the page says of one state: its values, what differs from another state, its successors and its predecessors.
import { el, button, number, interval } from './dom.js';
import { doc } from './document.js';
import { boardOf, boardElement } from './board.js';
import { key, valueText, changeText, playerIcon } from './state-graph.js';

const isTimed = (type) => type === 'CTMC';

// commandButtons lead to the commands of a choice in the text of the model.
function commandButtons(commands) {
  return commands.map((c) => button(`${c.module}, line ${c.line}`, () => doc.dispatchEvent(new CustomEvent('go', { detail: { file: doc.file, line: c.line, column: 1 } })), { class: 'small quiet command', title: 'Go to this command' }));
}

// choiceCell says which choice it is: its action, or the module of an unlabelled command, and its commands.
function choiceCell(c, span, best) {
  return el('td', { rowspan: span > 1 ? String(span) : null }, c.action?.startsWith('[') ? el('strong', {}, c.action) : el('span', { class: 'soft' }, 'unlabelled'),
    best ? el('span', { class: 'chip' }, '★ optimal') : null, ' ', commandButtons(c.commands));
}

// stateButton selects a state.
const stateButton = (text, name, select) => button(text, select, { class: 'small mono state', 'aria-label': name });

// rowOf returns a row of a table that does the same as the button in it.
function rowOf(cells, act) {
  return el('tr', { class: 'pressed', onclick: (e) => { if (!e.target.closest('button')) act(); } }, cells);
}

// successors is the table of the transitions of a state. act.select(node) selects a state of the graph.
export function successors(graph, n, act) {
  const from = graph.nodes.indexOf(n);
  const choices = graph.choices.filter((c) => c.from === from);
  const valued = graph.nodes.some((m) => m.value);
  const rows = choices.flatMap((c) => c.to.map((t, i) => {
    const target = graph.nodes[t.to];
    const select = () => target && act.select(target);
    return rowOf([
      i === 0 ? choiceCell(c, c.to.length, c.best) : null,
      el('td', { class: 'num' }, number(t.probability, 6)),
      el('td', {}, target ? stateButton(changeText(graph.vars, n.state, target.state), `Successor ${target.text}`, select) : el('span', { class: 'soft' }, 'not in the picture')),
      valued ? el('td', { class: 'mono' }, target?.value ? valueText(target.value) : '') : null,
    ], select);
  }));
  for (const c of choices.filter((c) => c.transitions)) rows.push(el('tr', {}, el('td', { colspan: valued ? 4 : 3, class: 'soft' }, `${c.action}: the first ${c.to.length} of ${c.transitions} transitions`)));
  return el('table', { class: 'transitions', 'aria-label': 'Successors' },
    el('thead', {}, el('tr', {}, ['Choice', isTimed(graph.type) ? 'Rate' : 'Probability', 'Successor', valued && 'Value'].filter(Boolean).map((t) => el('th', { scope: 'col' }, t)))), el('tbody', {}, rows));
}

// shownPredecessors are the transitions to a state from states of the graph.
export function shownPredecessors(graph, n) {
  const to = graph.nodes.indexOf(n);
  return graph.choices.flatMap((c) => c.to.filter((t) => t.to === to).map((t) => ({ ...graph.nodes[c.from], ...c, probability: t.probability })));
}

// predecessorTable lists transitions to a state: {state, text, action, commands, p}.
export function predecessorTable(graph, list, act) {
  return el('table', { class: 'transitions', 'aria-label': 'Predecessors' },
    el('thead', {}, el('tr', {}, ['Predecessor', 'Choice', isTimed(graph.type) ? 'Rate' : 'Probability'].map((t) => el('th', { scope: 'col' }, t)))),
    el('tbody', {}, list.map((t) => rowOf([el('td', {}, stateButton(t.text, `Predecessor ${t.text}`, () => act.show(t.state))), choiceCell(t, 1), el('td', { class: 'num' }, number(t.probability, 6))], () => act.show(t.state)))));
}

// variables is the table of the values of a state; with another state, of both, with a mark where they differ.
export function variables(graph, n, other) {
  const text = (v, x) => (v.bool ? String(!!x) : String(x));
  const differs = (i) => other && other.state[i] !== n.state[i];
  const modules = new Set(graph.vars.map((v) => v.module || ''));
  let module = null;
  const rows = graph.vars.flatMap((v, i) => {
    const head = modules.size > 1 && v.module !== module ? [el('tr', {}, el('th', { scope: 'rowgroup', colspan: other ? '4' : '2', class: 'module' }, v.module || 'global'))] : [];
    module = v.module;
    return [...head, el('tr', { class: differs(i) ? 'differs' : null }, el('th', { scope: 'row' }, v.name), el('td', { class: 'mono' }, text(v, n.state[i])),
      other ? [el('td', { class: 'mono' }, text(v, other.state[i])), el('td', {}, differs(i) ? '≠' : '')] : null)];
  });
  return el('table', { 'aria-label': other ? 'Differences' : 'Variables' },
    other ? el('thead', {}, el('tr', {}, ['Variable', 'Selected', 'Compared', ''].map((t) => el(t ? 'th' : 'td', t ? { scope: 'col' } : {}, t)))) : null, el('tbody', {}, rows));
}

// differences says in sentences what differs between a state and another one, apart from values of variables.
function differences(graph, n, other) {
  const out = [];
  const count = graph.vars.filter((_, i) => n.state[i] !== other.state[i]).length;
  out.push(count ? `${count} of ${graph.vars.length} variables differ.` : 'The states are the same.');
  const only = (a, b) => a.filter((x) => !b.includes(x));
  const sides = (what, mine, theirs) => {
    const here = only(mine, theirs); const there = only(theirs, mine);
    if (here.length) out.push(`${what} only of the selected state: ${here.join(', ')}.`);
    if (there.length) out.push(`${what} only of the compared state: ${there.join(', ')}.`);
    if (!here.length && !there.length && mine.length) out.push(`The same ${what.toLowerCase()}: ${mine.join(', ')}.`);
  };
  const labels = (m) => (m.labels || []).map((l) => `"${graph.labels[l]}"`);
  sides('Labels', labels(n), labels(other));
  const choices = (m) => {
    const at = graph.nodes.findIndex((x) => key(x.state) === key(m.state));
    return [...new Set(graph.choices.filter((c) => c.from === at).map((c) => (c.action?.startsWith('[') ? c.action : `unlabelled of ${c.action || 'several modules'}`)))];
  };
  if (n.open && other.open) sides('Choices', choices(n), choices(other));
  else out.push('Choices are compared when both states are expanded.');
  if (n.player !== other.player) out.push(`${graph.players[n.player]} moves in the selected state, ${graph.players[other.player]} in the compared one.`);
  if (n.value && other.value) out.push(`Values: ${valueText(n.value, 8)} and ${valueText(other.value, 8)}.`);
  return el('ul', { class: 'differences' }, out.map((t) => el('li', {}, t)));
}

// details says everything that is known of a state. compared is another state or null, component the text about its component, incoming what is known of its
// predecessors: {list, text, more}.
export function details(graph, n, { compared, component, incoming, act }) {
  const cells = boardOf(graph.vars, n.state);
  const other = compared && key(compared.state) !== key(n.state) ? compared : null;
  const facts = [n.initial && 'initial', ...(n.labels || []).map((l) => `"${graph.labels[l]}"`), component].filter(Boolean);
  return [
    el('h2', { class: 'mono' }, n.text),
    el('div', { class: 'row' },
      n.open ? button('Collapse', () => act.collapse(n), { class: 'small' }) : button('Expand', () => act.select(n), { class: 'small' }),
      button('Predecessors', () => act.predecessors(n), { class: 'small' }),
      compared ? button('End the comparison', () => act.compare(null), { class: 'small' }) : button('Compare with…', () => act.compare(n), { class: 'small' }),
      button('Simulate from here', () => act.simulate(n), { class: 'small' })),
    compared && !other ? el('p', { class: 'note' }, 'Select the state to compare this one with.') : null,
    n.player !== undefined ? el('p', { class: 'mover' }, playerIcon(n.player), ` ${graph.players[n.player]} moves.`) : null,
    facts.length ? el('p', {}, facts.join(', ')) : null,
    n.value ? el('p', {}, 'Value: ', el('span', { class: 'value' }, valueText(n.value, 10)), n.value.boolean ? null : el('span', { class: 'soft' }, ` in ${interval(n.value.lower, n.value.upper, 10)}`)) : null,
    cells ? boardElement(cells.cells, cells.cols, { mini: true }) : null,
    other ? [el('h3', {}, `Differences from ${other.text}`), differences(graph, n, other)] : null,
    el('div', { class: 'scroll' }, variables(graph, n, other)),
    el('h3', {}, 'Successors'),
    n.deadlock ? el('p', { class: 'warn' }, 'None: a deadlock.') : n.open ? el('div', { class: 'scroll' }, successors(graph, n, act)) : el('p', { class: 'soft' }, 'Not expanded yet.'),
    el('h3', {}, 'Predecessors'),
    el('p', { class: 'soft' }, incoming.text, ' ', incoming.more),
    incoming.list.length ? el('div', { class: 'scroll' }, predecessorTable(graph, incoming.list, act)) : null,
  ].flat();
}
