"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const columns = Object.keys(data.columns);
const width = columns.length;
const FAILS = data.states.findIndex(([name]) => name === "fails");
const find = (id) => document.getElementById(id);
const escape = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const keyOf = (row, place) =>
  `${data.rows[row][0]}/${data.backends[Math.floor(place / width)]}/${columns[place % width]}`;
const count = (number, one) => `${number.toLocaleString("en")} ${one}${number === 1 ? "" : "s"}`;
const wanted = { text: "", state: -1, changed: false, hidden: new Set() };
const changed = Object.keys(data.changes);

// ---- the head

function drawHead() {
  const { arrayport, python, libraries, max_examples: calls, platform } = data.about;
  find("about").title = platform;
  const versions = Object.entries(libraries).map((pair) => pair.join(" ")).join(", ");
  const commit = arrayport.commit ? ` at ${arrayport.commit.slice(0, 9)}` : "";
  find("about").textContent =
    `${count(data.rows.length, "function")} × ${count(data.backends.length, "backend")} × ${count(width, "law")}, ` +
    `${count(calls, "call")} a law${commit}. Python ${python}, ${versions}.`;
  find("summary").innerHTML = data.backends.map((backend, b) => {
    const counts = data.states.map(() => 0);
    for (const row of data.rows) for (let c = 0; c < width; c++) counts[row[2][b * width + c]]++;
    const [good, bad] = counts;
    const bar = counts.map((n, s) => (n ? `<i class="s${s}" style="flex:${n}" title="${n} ${data.states[s][0]}"></i>` : "")).join("");
    const rest = counts.map((n, s) => (s > 1 && n ? `${n.toLocaleString("en")} ${data.states[s][0]}` : "")).filter(Boolean).join(", ");
    const verdict = bad
      ? `<strong class="bad">${bad.toLocaleString("en")}</strong> of ${(good + bad).toLocaleString("en")} fail`
      : `<strong>${good.toLocaleString("en")}</strong> hold, none fails`;
    return `<section class="backend"><h2>${escape(backend)}<span>${rest}</span></h2>${verdict}<div class="bar">${bar}</div></section>`;
  }).join("");
  const chip = (kind, value, label, pressed, title) =>
    `<button type="button" class="chip" data-${kind}="${value}" aria-pressed="${pressed}" title="${escape(title)}">${label}</button>`;
  const used = new Set(data.rows.flatMap((row) => [...row[2]]).map(Number));
  find("states").innerHTML =
    chip("state", -1, "all", true, "every function") +
    data.states.map(([name, mark, meaning], s) => (used.has(s) && s ? chip("state", s, `<b>${mark}</b> ${name}`, false, meaning) : "")).join("") +
    (changed.length ? chip("state", "changed", `changed ${changed.length}`, false, "cells that are not what they were") : "");
  find("backends").innerHTML = data.backends.length < 2 ? ""
    : data.backends.map((name, b) => chip("backend", b, escape(name), true, `show ${name}`)).join("");
  const names = data.excluded.reduce((sum, [, list]) => sum + list.length, 0);
  find("excluded").querySelector("summary").textContent = `${count(names, "public name")} without laws, and why`;
  find("excluded").querySelector("dl").innerHTML = data.excluded
    .map(([reason, list]) => `<dt>${escape(reason)}</dt><dd>${list.map(escape).join(" ")}</dd>`).join("");
}

// ---- the table

function drawTable() {
  const places = [...Array(width * data.backends.length).keys()];
  const of = (p) => `b${Math.floor(p / width)}${p % width ? "" : " first"}`;
  const heads = places.map((p) =>
    `<div role="columnheader" class="${of(p)}" title="${escape(data.columns[columns[p % width]])}"><span>${columns[p % width]}</span></div>`);
  const groups = data.backends.map((name, b) => `<div role="columnheader" class="b${b} first" style="grid-column:span ${width}">${escape(name)}</div>`);
  const out = [
    `<div role="rowgroup" class="head"><div role="row" class="line"><div class="name"></div>${groups.join("")}</div>`,
    `<div role="row" class="line laws"><div role="columnheader" class="name">function</div>${heads.join("")}</div></div>`,
  ];
  const marks = data.states.map(([, mark]) => mark);
  const moved = new Set(changed);
  let family = null;
  data.rows.forEach(([name, group, states], row) => {
    if (group !== family) {
      if (family !== null) out.push("</div>");
      family = group;
      out.push(`<div role="rowgroup" class="family" data-family="${group}"><div role="row" class="title"><div role="rowheader"><b>${group}</b><span></span></div></div>`);
    }
    const dot = name.lastIndexOf(".") + 1;
    out.push(`<div role="row" class="line" data-row="${row}"><div role="rowheader" class="name" title="${name}"><small>${name.slice(0, dot)}</small>${name.slice(dot)}</div>`);
    for (const p of places) {
      const extra = moved.size && moved.has(keyOf(row, p)) ? " changed" : "";
      out.push(`<i role="gridcell" class="s${states[p]} ${of(p)}${extra}" tabindex="-1">${marks[states[p]]}</i>`);
    }
    out.push("</div>");
  });
  if (family !== null) out.push("</div>");
  find("matrix").innerHTML = out.join("");
  find("matrix").style.setProperty("--tracks", "minmax(0, 1.32fr)" + " minmax(0, 1fr)".repeat(width - 1));
  const first = find("matrix").querySelector("i");
  if (first) first.tabIndex = 0;
  lines = [...find("matrix").querySelectorAll("[data-row]")];
}

let lines = [];
const placeOf = (cell) => [].indexOf.call(cell.parentElement.children, cell) - 1;
const rowOf = (cell) => Number(cell.parentElement.dataset.row);
const cellAt = (row, place) => lines[row].children[place + 1];
const visible = (cell) => !cell.parentElement.hidden && !wanted.hidden.has(Math.floor(placeOf(cell) / width));

function applyFilter() {
  const terms = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
  const changedRows = new Set(changed.map((key) => key.slice(0, key.indexOf("/"))));
  const shownPlaces = [...data.rows[0]?.[2] ?? ""].map((_, p) => p).filter((p) => !wanted.hidden.has(Math.floor(p / width)));
  let shown = 0;
  const families = {};
  for (const line of lines) {
    const [name, family, states] = data.rows[line.dataset.row];
    const text = `${name} ${family}`.toLowerCase();
    const fits = terms.every((term) => text.includes(term)) &&
      (wanted.state < 0 || shownPlaces.some((p) => Number(states[p]) === wanted.state)) &&
      (!wanted.changed || changedRows.has(name));
    if (line.hidden === fits) line.hidden = !fits;
    if (fits) { shown++; families[family] = (families[family] ?? 0) + 1; }
  }
  for (const group of find("matrix").querySelectorAll(".family")) {
    const number = families[group.dataset.family] ?? 0;
    group.hidden = !number;
    group.querySelector("span").textContent = count(number, "function");
  }
  find("shown").textContent = `${shown.toLocaleString("en")} of ${count(data.rows.length, "function")}`;
  find("none").hidden = shown > 0;
  find("scroller").hidden = shown === 0;
}

function showBackends() {
  const rules = [...wanted.hidden].map((b) => `.b${b}{display:none}`).join("");
  let sheet = find("hidden-backends");
  if (!sheet) { sheet = document.createElement("style"); sheet.id = "hidden-backends"; document.head.append(sheet); }
  sheet.textContent = rules;
  find("matrix").style.setProperty("--cells", width * (data.backends.length - wanted.hidden.size));
}

// ---- one cell

let open = null;

function show(cell) {
  const [row, place] = [rowOf(cell), placeOf(cell)];
  const [name, , states, details] = data.rows[row];
  const [backend, column] = [data.backends[Math.floor(place / width)], columns[place % width]];
  const [state, mark, meaning] = data.states[states[place]];
  const was = data.changes[keyOf(row, place)];
  const program = data.programs[`${row}/${place}`];
  const again = `python -m arrayport_conformance matrix --only ${name} --backends ${backend}`;
  const block = (label, text) =>
    `<div class="bar-of"><span>${label}</span><button type="button" data-copy>Copy</button></div><pre tabindex="0">${escape(text)}</pre>`;
  find("panel").innerHTML =
    `<button type="button" class="close" aria-label="Close">×</button><h2>${escape(name)}</h2>` +
    `<p class="where">${escape(column)} on ${escape(backend)}: ${escape(data.columns[column])}</p>` +
    `<span class="verdict s${states[place]}" title="${escape(meaning)}">${mark} ${state}</span>` +
    (was === undefined ? "" : ` <span class="where">was ${escape(was || "absent")}</span>`) +
    `<p class="detail">${escape(data.texts[details[place]] || meaning)}</p>` +
    (program ? block("Repeat it: a Python program", program) : block("Look again", again));
  find("panel").hidden = false;
  open?.removeAttribute("aria-selected");
  open = cell;
  cell.setAttribute("aria-selected", "true");
  cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  try { history.replaceState(null, "", `#${keyOf(row, place)}`); } catch { /* a page without an address */ }
}

function close() {
  find("panel").hidden = true;
  open?.removeAttribute("aria-selected");
  open?.focus();
  open = null;
}

function go(cell) {
  const last = find("matrix").querySelector('i[tabindex="0"]');
  if (last) last.tabIndex = -1;
  cell.tabIndex = 0;
  cell.focus({ preventScroll: true });
  cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  if (open) show(cell);
}

function step(cell, down, right) {
  let place = placeOf(cell);
  let row = rowOf(cell);
  do { row += down; place += right; }
  while (row >= 0 && row < data.rows.length && place >= 0 && place < width * data.backends.length && !visible(cellAt(row, place)));
  if (row >= 0 && row < data.rows.length && place >= 0 && place < width * data.backends.length) go(cellAt(row, place));
}

function nextFailure(from) {
  const size = width * data.backends.length;
  const start = from ? rowOf(from) * size + placeOf(from) : -1;
  const total = data.rows.length * size;
  for (let i = 1; i <= total; i++) {
    const at = (start + i) % total;
    const [row, place] = [Math.floor(at / size), at % size];
    if (Number(data.rows[row][2][place]) !== FAILS) continue;
    const cell = cellAt(row, place);
    if (visible(cell)) { go(cell); show(cell); return; }
  }
}

// ---- hands

find("tools").addEventListener("submit", (event) => event.preventDefault());
find("filter").addEventListener("input", (event) => { wanted.text = event.target.value; applyFilter(); });
find("clear").addEventListener("click", () => {
  Object.assign(wanted, { text: "", state: -1, changed: false });
  find("filter").value = "";
  press("state", "-1");
  applyFilter();
});
const press = (kind, value) => {
  for (const chip of document.querySelectorAll(`[data-${kind}]`)) chip.setAttribute("aria-pressed", chip.dataset[kind] === value);
};
find("states").addEventListener("click", (event) => {
  const value = event.target.closest("[data-state]")?.dataset.state;
  if (value === undefined) return;
  wanted.changed = value === "changed";
  wanted.state = wanted.changed ? -1 : Number(value);
  press("state", value);
  applyFilter();
});
find("backends").addEventListener("click", (event) => {
  const chip = event.target.closest("[data-backend]");
  if (!chip) return;
  const b = Number(chip.dataset.backend);
  if (wanted.hidden.has(b)) wanted.hidden.delete(b);
  else if (wanted.hidden.size < data.backends.length - 1) wanted.hidden.add(b);
  chip.setAttribute("aria-pressed", !wanted.hidden.has(b));
  showBackends();
  applyFilter();
});
find("matrix").addEventListener("click", (event) => {
  const cell = event.target.closest("i");
  if (cell) { go(cell); show(cell); }
});
find("panel").addEventListener("click", (event) => {
  if (event.target.closest(".close")) close();
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    const text = copy.parentElement.nextElementSibling.textContent;
    const done = () => { copy.textContent = "Copied"; };
    navigator.clipboard?.writeText(text).then(done, () => getSelection().selectAllChildren(copy.parentElement.nextElementSibling));
  }
});
find("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("arrayport-theme", root.dataset.theme); } catch { /* a page without storage */ }
});
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const cell = event.target.closest?.("#matrix i");
  const typing = event.target === find("filter");
  if (event.key === "Escape") {
    if (typing && find("filter").value) return;
    if (open) close(); else event.target.blur?.();
  } else if (typing) {
    if (event.key === "ArrowDown") {
      const next = [...find("matrix").querySelectorAll("i")].find(visible);
      if (next) { event.preventDefault(); go(next); }
    }
  } else if (event.key === "/") {
    event.preventDefault();
    find("filter").focus();
    find("filter").select();
  } else if (event.key === "n") {
    nextFailure(cell ?? open);
  } else if (cell && MOVES[event.key]) {
    event.preventDefault();
    step(cell, ...MOVES[event.key]);
  } else if (cell && (event.key === "Enter" || event.key === " ")) {
    event.preventDefault();
    show(cell);
  }
});

try { const kept = localStorage.getItem("arrayport-theme"); if (kept) document.documentElement.dataset.theme = kept; } catch { /* as above */ }
drawHead();
drawTable();
showBackends();
applyFilter();
const [asked, backend, column] = decodeURIComponent(location.hash.slice(1)).split("/");
const row = data.rows.findIndex(([name]) => name === asked);
if (row >= 0 && data.backends.includes(backend) && columns.includes(column)) {
  const cell = cellAt(row, data.backends.indexOf(backend) * width + columns.indexOf(column));
  go(cell);
  show(cell);
  cell.scrollIntoView({ block: "center" });
}
