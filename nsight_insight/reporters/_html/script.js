"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);

  function copy(text, button) {
    const label = button.textContent;
    const done = () => {
      button.textContent = "copied";
      button.disabled = true;
      setTimeout(() => { button.textContent = label; button.disabled = false; }, 1200);
    };
    const byHand = () => {
      const area = make("textarea", {value: text});
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      done();
    };
    navigator.clipboard ? navigator.clipboard.writeText(text).then(done, byHand) : byHand();
  }
  function copyButton(text, className, label) {
    const button = make("button", {type: "button", className, textContent: label, title: "copy"});
    button.addEventListener("click", () => copy(text, button));
    return button;
  }
  for (const block of all("pre")) { block.before(copyButton(block.textContent, "copy", "copy")); }
  for (const place of all("code.place")) { place.replaceWith(copyButton(place.textContent, "place", place.textContent)); }

  function compare(a, b) {
    const [x, y] = [a.dataset.v, b.dataset.v];
    if (x !== undefined && y !== undefined) { return x - y; }
    if (x !== undefined || y !== undefined) { return x !== undefined ? 1 : -1; }
    return a.textContent.localeCompare(b.textContent);
  }
  function sort(table, column, header) {
    const ascending = header.getAttribute("aria-sort") === "descending" ||
      (!header.hasAttribute("aria-sort") && !header.classList.contains("n"));
    all("th", table).forEach((other) => other.removeAttribute("aria-sort"));
    header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    const rows = [...table.tBodies[0].rows].map((row, index) => [row, index]);
    const sign = ascending ? 1 : -1;
    rows.sort(([a, i], [b, j]) => sign * compare(a.cells[column], b.cells[column]) || i - j);
    table.tBodies[0].append(...rows.map(([row]) => row));
  }
  for (const table of all("table.sortable")) {
    all("thead th", table).forEach((header, column) => {
      const button = make("button", {type: "button", textContent: header.textContent});
      button.addEventListener("click", () => sort(table, column, header));
      header.replaceChildren(button);
    });
  }

  function labelled(text, control) {
    const label = make("label", {textContent: text + " "});
    label.append(control);
    return label;
  }
  const kernelTools = document.querySelector('.tools[data-for="kernel-table"]');
  if (kernelTools) {
    const rows = all("#kernel-table tbody tr");
    const input = make("input", {type: "search", id: "kernel-filter", size: 24, autocomplete: "off"});
    const shown = make("output");
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      for (const row of rows) {
        const text = (row.textContent + " " + row.cells[0].title).toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        count += !row.hidden;
      }
      shown.textContent = words.length ? count + " of " + rows.length : "";
    });
    kernelTools.append(labelled("Filter by name, family or type", input), shown);
  }
  const findingTools = document.querySelector('.tools[data-for="findings"]');
  if (findingTools) {
    const findings = all("details.finding");
    const select = make("select", {id: "severity-filter"});
    for (const [value, text] of [["note", "all"], ["warning", "warnings and errors"], ["error", "errors only"]]) {
      select.append(make("option", {value, textContent: text}));
    }
    const order = ["note", "warning", "error"];
    select.addEventListener("change", () => {
      const least = order.indexOf(select.value);
      findings.forEach((item) => { item.hidden = order.indexOf(item.dataset.severity) < least; });
    });
    const toggle = (text, open) => {
      const button = make("button", {type: "button", textContent: text});
      button.addEventListener("click", () => findings.forEach((item) => { item.open = open; }));
      return button;
    };
    findingTools.append(labelled("Show", select), toggle("Unfold all", true), toggle("Fold all", false));
  }
  function unfoldTarget() {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (target && target.tagName === "DETAILS") { target.open = true; }
  }
  addEventListener("hashchange", unfoldTarget);
  unfoldTarget();
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = all("details:not([open])");
    folded.forEach((item) => { item.open = true; });
  });
  addEventListener("afterprint", () => { folded.forEach((item) => { item.open = false; }); });
})();
