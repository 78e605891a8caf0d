// The table itself: headings that sort, rows that open a pair. On a phone every row is a card.
import { element, fill } from "./template.js";

/** The table of a page; `ask` tells the server what the visitor wants. */
export function tableOf(header, ask) {
  const { text, columns, rows, sort, descending, opened, languages, page } = header;
  const table = element("table", { role: "table", "aria-description": text.keys, "data-testid": "pair-table" }); // roles are said: a phone shows it as cards
  table.createCaption().textContent = fill(text.caption, span(header));
  const heading = (id, title, about, kind) => {
    const own = id === sort, mark = own ? (descending ? "▼" : "▲") : "";
    const button = element("button", { type: "button", "data-testid": `sort-${id}`, title: about, onclick: () => ask({ sort: id }) }, title, element("span", { class: "mark", "aria-hidden": "true" }, mark));
    return element("th", { scope: "col", role: "columnheader", class: kind, "aria-sort": own ? (descending ? "descending" : "ascending") : "none" }, button);
  };
  const words = (title, kind) => element("th", { scope: "col", role: "columnheader", class: kind }, title);
  table.append(element("thead", { role: "rowgroup" }, element("tr", { role: "row" },
    heading("index", text.number, text.sort, "number"), words(text.source, "side"), words(text.target, "side"),
    ...columns.map(({ id, title, about }) => heading(id, title, about, "number")))));
  const body = element("tbody", { role: "rowgroup" });
  rows.forEach((row, at) => body.append(rowOf(row, at, { text, columns, opened, languages, ask })));
  table.append(body);
  table.dataset.page = page;
  return table;
}

/** Which rows of how many stand on this page, counted from 1. */
export const span = ({ rows, page, size, total }) => ({ first: (rows.length ? page * size + 1 : 0).toLocaleString("en"), last: (page * size + rows.length).toLocaleString("en"), total: total.toLocaleString("en") });

function rowOf(row, at, { text, columns, opened, languages, ask }) {
  const here = row.index === opened, open = () => ask({ open: row.index });
  const number = element("button", { type: "button", class: "opens", "data-testid": `open-${row.index}`, "aria-label": fill(text.open, { number: row.index + 1 }), "aria-current": here ? "true" : null, tabindex: at ? "-1" : "0" }, String(row.index + 1));
  const side = (written, i) => element("td", { role: "cell", class: "side", "data-title": i ? text.target : text.source }, element("bdi", { lang: languages[i], dir: "auto" }, written), ...(i ? row.notes.map(note => element("span", { class: "flag" }, note)) : []));
  const made = element("tr", { role: "row", class: here ? "here" : null, "data-index": row.index, onclick: event => { if (!getSelection()?.toString() || event.target.closest("button")) open(); } },
    element("th", { scope: "row", role: "rowheader", class: "number" }, number), side(row.source, 0), side(row.target, 1),
    ...row.cells.map((cell, i) => element("td", { role: "cell", class: "number", "data-title": columns[i].title }, cell)));
  return made;
}
