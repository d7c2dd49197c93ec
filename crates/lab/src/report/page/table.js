// Tables of measures: a column for each era, a row for each measure, in groups.

/** A table in `host`; `differing` leaves out the rows in which the eras agree. */
function showTable(host, table, differing, eras) {
  const head = ["", ...table.columns].map((name) => element("th", { scope: "col", ...(name === "machine" ? { class: "machine" } : {}) }, name));
  const body = element("tbody");
  let group = null;
  for (const row of table.rows) {
    const own = row.cells.filter((_, at) => eras.includes(table.columns[at]));
    const same = own.length > 1 && own.every((value) => value === own[0]);
    if (differing && same) continue;
    if (row.group && row.group !== group) {
      body.append(element("tr", { class: "group" }, element("th", { scope: "rowgroup", colspan: String(table.columns.length + 1) }, row.group)));
    }
    group = row.group;
    const unit = row.unit ? [" ", element("small", {}, row.unit)] : [];
    const cells = row.cells.map((value, at) => {
      const kind = table.columns[at] === "machine" ? "machine" : same ? "same" : "";
      return element("td", kind ? { class: kind } : {}, cellText(value));
    });
    body.append(element("tr", {}, element("th", { scope: "row" }, row.measure, ...unit), ...cells));
  }
  const scroll = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": table.title },
    element("table", {}, element("thead", {}, element("tr", {}, ...head)), body));
  host.replaceChildren(scroll);
}

/** A table with the box that leaves out rows in which the eras agree, and a button to save it. */
function tableWithTick(host, table, eras, stem, differing) {
  const place = element("div");
  const save = element("button", { type: "button" }, "CSV");
  save.addEventListener("click", () =>
    saveAs(`${stem} ${table.title}.csv`, "text/csv",
      csv([["group", "measure", "unit", ...table.columns], ...table.rows.map((row) => [row.group, row.measure, row.unit, ...row.cells])])));
  const controls = element("form", { class: "controls" });
  if (table.columns.filter((name) => eras.includes(name)).length > 1) {
    controls.append(tick("only rows in which the eras differ", differing, (on) => showTable(place, table, on, eras)));
  }
  controls.append(save);
  host.replaceChildren(controls, place);
  showTable(place, table, differing, eras);
}
