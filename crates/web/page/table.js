// A table of texts.

const ERAS = ["linux-6.1", "linux-6.12", "linux-7.3", "linux-7.3-tidying", "linux-7.3-counts", "freehold"];

/** A table of texts; the first column heads the rows. */
function table(columns, rows) {
  const head = element("thead", {}, element("tr", {}, ...columns.map((name) => element("th", { scope: "col" }, name))));
  const body = rows.map(([name, ...cells]) =>
    element("tr", {}, element("th", { scope: "row" }, name), ...cells.map((cell) => element("td", {}, cell))));
  return element("table", {}, head, element("tbody", {}, ...body));
}
