"use strict";

// A cell's value for sorting: a number where it says one, else its text.
function valueOf(row, column) {
  const cell = row.cells[column];
  const said = cell.dataset.value ?? cell.textContent.trim();
  const number = Number(said.replaceAll(",", ""));
  return said === "" || said === "–" ? null : Number.isNaN(number) ? said : number;
}

function order(a, b) {
  if (a === null || b === null) return (a === null) - (b === null);
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}

for (const table of document.querySelectorAll("table.sortable")) {
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

for (const input of document.querySelectorAll("input[data-filters]")) {
  input.addEventListener("input", () => {
    const asked = input.value.toLowerCase();
    for (const row of document.getElementById(input.dataset.filters).tBodies[0].rows) {
      row.hidden = !row.textContent.toLowerCase().includes(asked);
    }
  });
}

for (const input of document.querySelectorAll("input[data-marks]")) {
  const picture = document.getElementById(input.dataset.marks);
  input.addEventListener("input", () => {
    const asked = input.value.toLowerCase();
    let first = null;
    for (const box of picture.querySelectorAll(".box")) {
      const found = asked !== "" && box.querySelector("title").textContent.toLowerCase().includes(asked);
      box.classList.toggle("found", found);
      first ??= found ? box : null;
    }
    first?.scrollIntoView({ block: "nearest", inline: "center" });
  });
}

for (const tools of document.querySelectorAll(".tools")) {
  const svg = tools.nextElementSibling.querySelector("svg");
  const whole = svg.viewBox.baseVal.width;
  for (const button of tools.querySelectorAll("button")) {
    button.addEventListener("click", () => {
      const by = Number(button.dataset.zoom);
      const width = by === 0 ? Math.min(whole, svg.parentElement.clientWidth - 2) : svg.clientWidth * by;
      svg.setAttribute("width", String(Math.max(120, Math.min(width, whole * 3))));
    });
  }
}
