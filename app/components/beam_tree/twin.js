// Every node as a line of a table, and of a file.
import { csvBlob } from "./export.js";
import { Folded } from "./folded.js";
import { element, isolate } from "./template.js";
import { wayTo, written } from "./tree.js";

const before = (header, index) => [header.start, ...wayTo(header, index).slice(0, -1).map(at => header.nodes[at].label)].map(isolate).join(" · ");

const heaviest = ({ rows, keys }, { row }) => keys[rows[row].indexOf(Math.max(...rows[row]))];

export class Twin extends Folded {
  show(header) { this.renew({ header }); }

  made() {
    const { header } = this, { text, nodes } = header;
    const names = ["table_node", "table_after", "table_token", "table_fate", "table_log_probability", "table_total", "table_worth", "table_looks"];
    const head = element("tr", {}, ...names.map(name => element("th", { scope: "col" }, text[name])));
    const rows = nodes.map((node, index) => element("tr", {}, element("td", {}, String(index)), element("td", {}, element("bdi", {}, before(header, index))), element("th", { scope: "row" }, element("bdi", {}, node.label)),
      ...[text[node.fate], written(node.log_probability, 4), written(node.total, 4), written(node.worth, 4)].map(value => element("td", {}, value)), element("td", {}, element("bdi", {}, heaviest(header, node)))));
    const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
    table.createCaption().textContent = text.title;
    return table;
  }
}

export function csvOf(header, caption) {
  const { nodes, rows, keys } = header;
  const lines = [["node", "parent", "depth", "token", "id", "fate", "log_probability", "total", "worth", "returned", ...keys.map((key, at) => `${at} ${key}`), "caption"]];
  nodes.forEach((node, index) => lines.push([index, node.parent ?? "", node.depth, node.label, node.id, node.fate, node.log_probability, node.total, node.worth, header.best.includes(index) ? header.best.indexOf(index) + 1 : "", ...rows[node.row], index ? "" : caption.join(" ")]));
  return csvBlob(lines);
}
