"use strict";
// Filters for the suites. Everything is there without them.
(() => {
  const form = document.getElementById("filters");
  if (!form) return;
  const boxes = [...form.querySelectorAll("input[name=show]")];
  const files = [...document.querySelectorAll("details.file")].map((file) => ({
    file,
    open: file.open,
    name: file.querySelector("summary").textContent.toLowerCase(),
    rows: [...file.querySelectorAll("tbody tr")].map((row) => ({
      row,
      outcomes: row.dataset.o.split("\n").map((pair) => pair.split("\t")),
      text: row.textContent.toLowerCase(),
    })),
  }));
  const total = files.reduce((n, f) => n + f.rows.length, 0);

  function apply() {
    const show = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const engine = form.elements.engine.value;
    const words = form.elements.find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const active = show.size < boxes.length || engine !== "" || words.length > 0;
    let shown = 0;
    for (const f of files) {
      let here = 0;
      for (const r of f.rows) {
        const visible = r.outcomes.some(([o, e]) => show.has(o) && (engine === "" || e === engine)) &&
          words.every((w) => r.text.includes(w) || f.name.includes(w));
        r.row.hidden = !visible;
        if (visible) here++;
      }
      f.file.hidden = here === 0;
      f.file.open = active ? here > 0 && shown < 200 : f.open;
      shown += here;
    }
    for (const folder of document.querySelectorAll(".folder")) {
      folder.hidden = !folder.querySelector("details.file:not([hidden])");
    }
    document.getElementById("shown").textContent = active ? shown + " of " + total + " rows" : total + " rows";
    remember(active, show, engine, words.join(" "));
  }

  // The fragment keeps the filters, so that a view can be bookmarked.
  function remember(active, show, engine, find) {
    const p = new URLSearchParams();
    if (show.size < boxes.length) p.set("show", [...show].join(","));
    if (engine) p.set("engine", engine);
    if (find) p.set("find", find);
    if (active || location.hash.includes("=")) {
      history.replaceState(null, "", active ? "#" + p : location.pathname + location.search);
    }
  }

  function recall() {
    if (!location.hash.includes("=")) return;
    const p = new URLSearchParams(location.hash.slice(1));
    if (p.has("show")) {
      const show = p.get("show").split(",");
      for (const box of boxes) box.checked = show.includes(box.value);
    }
    if (p.has("engine")) form.elements.engine.value = p.get("engine");
    if (p.has("find")) form.elements.find.value = p.get("find");
  }

  function fold(open) {
    for (const f of files) f.file.open = open;
  }

  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", (e) => e.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  form.elements.open.addEventListener("click", () => fold(true));
  form.elements.close.addEventListener("click", () => fold(false));
  window.addEventListener("hashchange", () => { recall(); if (location.hash.includes("=")) apply(); });
  window.addEventListener("beforeprint", () => fold(true));
  recall();
  apply();
})();
