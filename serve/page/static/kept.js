// What views keep in the tab while the page is loaded again. It belongs to one text with the values of its constants.
import { doc } from './document.js';

const prefix = 'kept:';
const textKey = () => JSON.stringify([doc.file, doc.digest, doc.const, doc.picked]);

// keep saves what value() returns under a name when the page is left; null is nothing. Browsers end running work before pagehide, so it is done at
// beforeunload by those that have it.
export function keep(name, value) {
  let saved = false;
  const save = () => {
    sessionStorage.removeItem(prefix + name);
    const kept = doc.digest ? value() : null;
    try { if (kept) sessionStorage.setItem(prefix + name, JSON.stringify({ of: textKey(), value: kept })); } catch { /* too large, or not allowed */ }
  };
  addEventListener('beforeunload', () => { save(); saved = true; });
  addEventListener('pagehide', () => { if (!saved) save(); });
}

// isKept says whether something was kept under a name, of whatever text.
export const isKept = (name) => sessionStorage.getItem(prefix + name) !== null;

// takeKept returns what was kept under a name if it is of the text that is open, which must be diagnosed; otherwise null. The second time it returns null.
export function takeKept(name) {
  const text = sessionStorage.getItem(prefix + name);
  sessionStorage.removeItem(prefix + name);
  try {
    const kept = JSON.parse(text);
    return kept?.of === textKey() ? kept.value : null;
  } catch { return null; }
}
