"use strict";

const $ = (id) => document.getElementById(id);
const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
const root = document.documentElement;

// Tabs: one panel at a time.  Without this script, and on paper, all of them are there.
const tabs = all("nav a"), panels = all(".panel");
root.classList.add("tabbed");
document.querySelector("nav").setAttribute("role", "tablist");
tabs.forEach((tab, index) => {
  tab.setAttribute("role", "tab");
  tab.setAttribute("aria-controls", panels[index].id);
  panels[index].setAttribute("role", "tabpanel");
  panels[index].setAttribute("aria-labelledby", tab.id);
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) tabs[(index + step + tabs.length) % tabs.length].click();
  });
  tab.addEventListener("click", (event) => {
    event.preventDefault();
    history.replaceState(null, "", tab.hash);
    show(panels[index]);
    tab.focus();
  });
});

function show(panel) {
  panels.forEach((other, index) => {
    const chosen = other === panel;
    other.classList.toggle("shown", chosen);
    tabs[index].setAttribute("aria-selected", String(chosen));
    tabs[index].tabIndex = chosen ? 0 : -1;
  });
}

// Targets: one at a time where there are several.
function showTarget(number) {
  all(".of-target").forEach((part) => part.classList.toggle("shown", part.dataset.target === number));
  if ($("target")) $("target").value = number;
}
$("target")?.addEventListener("change", (event) => showTarget(event.target.value));
showTarget("0");

// What an address names is shown, wherever it lies.
function go(hash) {
  const found = hash.length > 1 ? $(decodeURIComponent(hash.slice(1))) : null;
  const panel = found?.closest(".panel");
  show(panel ?? panels[0]);
  if (!panel) return;
  const target = found.closest(".of-target");
  if (target) showTarget(target.dataset.target);
  for (let inside = found.closest("details"); inside; inside = inside.parentElement.closest("details")) inside.open = true;
  if (found.classList.contains("detail")) showDetail(found);
  if (found !== panel) found.scrollIntoView({ block: "center" });
}
addEventListener("hashchange", () => go(location.hash));

function showDetail(detail) {
  const inside = detail.parentElement;
  all(".detail", inside).forEach((other) => other.classList.toggle("shown", other === detail));
  inside.querySelector(".hint").hidden = true;
  inside.scrollTop = 0;
  const place = detail.querySelector("[data-sides]:empty");
  if (place) showSides(place);
}

// A tensor's numbers in both networks, side by side.
function showSides(place) {
  const n = numbers[Number(place.dataset.sides)], table = $("pairs").cloneNode(true);
  table.removeAttribute("id");
  rows(table, n.pairs.map(([a, b], i) => [String(n.at[i]), a, b, b - a]));
  place.append(table);
}

// Tables are sorted by their heads: a cell's value is a number where it says one, else its text; what is missing is last.
function valueOf(row, column) {
  const cell = row.cells[column];
  const said = cell.dataset.value ?? cell.textContent.trim();
  const number = Number(said.replaceAll(",", ""));
  return said === "" || said === "–" ? null : Number.isNaN(number) ? said : number;
}

function order(a, b) {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}

for (const table of all("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach((other) => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...table.tBodies[0].rows].map((row) => [valueOf(row, column), row]);
    const missing = rows.filter(([value]) => value === null), there = rows.filter(([value]) => value !== null);
    there.sort(([a], [b]) => (down ? order(b, a) : order(a, b)));
    table.tBodies[0].append(...[...there, ...missing].map(([, row]) => row));
  }));
}

for (const input of all("input[data-filters]")) {
  input.addEventListener("input", () => {
    const asked = input.value.toLowerCase();
    for (const row of $(input.dataset.filters).tBodies[0].rows) {
      row.hidden = !row.textContent.toLowerCase().includes(asked);
    }
  });
}

// The graph: searched, made larger, dragged; what is chosen in it is told beside it.
for (const input of all("input[data-marks]")) {
  input.addEventListener("input", () => {
    const asked = input.value.toLowerCase();
    let first = null;
    for (const box of all(".box", $(input.dataset.marks))) {
      const found = asked !== "" && box.dataset.tip.toLowerCase().includes(asked);
      box.classList.toggle("found", found);
      first ??= found ? box : null;
    }
    first?.scrollIntoView({ block: "nearest", inline: "center" });
  });
}

for (const picture of all(".graph")) {
  const svg = picture.querySelector("svg"), whole = svg.viewBox.baseVal.width;
  const zoom = (by) => {
    const width = by === 0 ? Math.min(whole, picture.clientWidth - 2) : svg.clientWidth * by;
    svg.setAttribute("width", String(Math.max(120, Math.min(width, whole * 3))));
  };
  const tools = picture.closest(".of-target").querySelector(".tools");
  all("button", tools).forEach((button) => button.addEventListener("click", () => zoom(Number(button.dataset.zoom))));
  picture.addEventListener("keydown", (event) => {
    const by = { "+": 1.25, "-": 0.8, 0: 0 }[event.key];
    if (by !== undefined) zoom(by);
  });
  let from = null, dragged = false;
  picture.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || event.button !== 0) return;
    from = [event.clientX + picture.scrollLeft, event.clientY + picture.scrollTop];
    dragged = false;
  });
  picture.addEventListener("pointermove", (event) => {
    if (!from || !(event.buttons & 1)) return;
    const left = from[0] - event.clientX, top = from[1] - event.clientY;
    dragged ||= Math.hypot(left - picture.scrollLeft, top - picture.scrollTop) > 4;
    if (dragged) [picture.scrollLeft, picture.scrollTop] = [left, top];
  });
  addEventListener("pointerup", () => { from = null; });
  addEventListener("click", () => { dragged = false; });
  picture.addEventListener("dragstart", (event) => event.preventDefault());
  picture.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-detail]");
    if (!link) return;
    event.preventDefault();
    if (dragged) return;
    all(".chosen", picture).forEach((other) => other.classList.remove("chosen"));
    link.classList.add("chosen");
    showDetail($(link.href.baseVal.slice(1)));
  });
}

// What a shape says, at the pointer and at the keyboard's place.
const tip = $("tip");
function tell(shape) {
  const box = shape?.getBoundingClientRect();
  tip.hidden = !shape;
  if (!shape) return;
  tip.textContent = shape.dataset.tip;
  tip.style.left = `${Math.max(4, Math.min(box.left, innerWidth - tip.offsetWidth - 4))}px`;
  tip.style.top = `${box.bottom + tip.offsetHeight + 8 < innerHeight ? box.bottom + 6 : Math.max(4, box.top - tip.offsetHeight - 6)}px`;
}
for (const kind of ["pointerover", "focusin"]) addEventListener(kind, (event) => tell(event.target.closest?.("[data-tip]")));
for (const kind of ["scroll", "blur"]) addEventListener(kind, () => tell(null), true);
addEventListener("keydown", (event) => event.key === "Escape" && tell(null));

for (const shape of all("[data-row]")) {
  shape.addEventListener("click", () => { location.hash = shape.dataset.row; });
}

// Numbers of a tensor in both networks: histogram, scatter, and the tables of both.
const numbers = JSON.parse($("tensor-numbers")?.textContent ?? "[]");
const short = (number) => String(Number(number.toPrecision(5)));

function draw(name, attributes, inside, tooltip) {
  const made = document.createElementNS(document.querySelector("svg").namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (tooltip) made.dataset.tip = tooltip;
  inside.append(made);
  return made;
}

function canvas(id, label) {
  $(id).replaceChildren();
  return draw("svg", { viewBox: "0 0 520 280", role: "img", "aria-label": label, class: "chart" }, $(id));
}

function rows(table, found) {
  table.tBodies[0].replaceChildren(...found.map((cells) => {
    const row = document.createElement("tr");
    for (const cell of cells) row.insertCell().textContent = typeof cell === "number" ? short(cell) : cell;
    return row;
  }));
}

function label(svg, x, y, said, anchor = "middle") {
  draw("text", { x, y, "text-anchor": anchor }, svg).textContent = said;
}

function drawHistogram(n) {
  const svg = canvas("histogram", `histogram of ${n.tensor}; the table of bins says the same`);
  const most = Math.max(1, ...n.real, ...n.held), step = (n.last - n.first) / n.real.length, wide = 480 / n.real.length;
  const at = (x) => 20 + (480 * (x - n.first)) / (n.last - n.first);
  draw("rect", { class: "beyond", x: 20, y: 16, width: at(n.low) - 20, height: 230 }, svg);
  draw("rect", { class: "beyond", x: at(n.high), y: 16, width: 500 - at(n.high), height: 230 }, svg);
  n.real.forEach((count, bin) => {
    const from = n.first + bin * step, says = `${short(from)} to ${short(from + step)}: float ${count}, quantized ${n.held[bin]}`;
    const bars = draw("g", {}, svg, says);
    [["float", count, 0], ["quantized", n.held[bin], 0.5]].forEach(([kind, amount, shift]) => {
      const tall = 225 * Math.sqrt(amount / most);
      draw("rect", { class: kind, x: 20 + (bin + shift) * wide, y: 246 - tall, width: wide / 2, height: tall }, bars);
    });
  });
  [n.first, n.low, n.high, n.last].forEach((x, i) => label(svg, at(x), i % 3 ? 262 : 276, short(x), ["start", "middle", "middle", "end"][i]));
  rows($("bins"), n.real.map((count, bin) => [n.first + bin * step, n.first + (bin + 1) * step, count, n.held[bin]]));
}

function drawScatter(n) {
  const svg = canvas("scatter", `scatter of ${n.tensor}; the table of points says the same`);
  const known = n.pairs.flat(), least = Math.min(...known), most = Math.max(...known), span = most - least || 1;
  const x = (v) => 20 + (480 * (v - least)) / span, y = (v) => 246 - (205 * (v - least)) / span;
  draw("line", { class: "same", x1: x(least), y1: y(least), x2: x(most), y2: y(most) }, svg);
  n.pairs.forEach(([a, b]) => draw("circle", { class: "pair", cx: x(a), cy: y(b), r: 3 }, svg, `float ${short(a)}, quantized ${short(b)}`));
  label(svg, x(least), 262, short(least), "start");
  label(svg, x(most), 262, short(most), "end");
  label(svg, 275, 274, "float");
  label(svg, 4, 26, `quantized, ${short(least)} to ${short(most)}`, "start");
  rows($("pairs"), n.pairs.map(([a, b], i) => [String(n.at[i]), a, b, b - a]));
}

function showNumbers(index) {
  const n = numbers[index], sum = n.real.reduce((a, b) => a + b, 0);
  $("tensor").value = String(index);
  $("numbers-said").textContent = `${n.tensor}: ${sum} numbers; its integers hold ${short(n.low)} to ${short(n.high)}. Heights are square roots of counts; points are of the first sample.`;
  drawHistogram(n);
  drawScatter(n);
}

if (numbers.length) {
  $("tensor").addEventListener("change", (event) => showNumbers(Number(event.target.value)));
  for (const link of all("a[data-tensor]")) link.addEventListener("click", () => showNumbers(Number(link.dataset.tensor)));
  showNumbers(Number(document.querySelector("#guilty-table a").dataset.tensor));
}

go(location.hash);
