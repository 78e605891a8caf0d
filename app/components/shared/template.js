// Translated sentences with {placeholders}; what a user typed is put in as text, isolated for direction, never as markup.

const PLACE = /\{(\w+)\}/;

/** A plain string; tokens come isolated by the marks that browsers and screen readers know. */
export function fill(sentence, values = {}) {
  return sentence.split(PLACE).map((part, i) => i % 2 ? String(values[part]) : part).join("");
}

/** Nodes for a sentence; values given as {token} become a <bdi>, bold. */
export function fillNodes(sentence, values = {}) {
  const nodes = document.createDocumentFragment();
  sentence.split(PLACE).forEach((part, i) => {
    if (i % 2 === 0) return nodes.append(part);
    const value = values[part];
    if (value === null || typeof value !== "object") return nodes.append(String(value));
    const token = document.createElement("bdi");
    token.className = "token";
    token.textContent = value.token;
    nodes.append(token);
  });
  return nodes;
}

/** A path of a trace as nodes: where its line is full it breaks behind a full stop, not within a name. */
export const pathNodes = path => path.split(/(?<=\.)/).flatMap((part, i) => i ? [document.createElement("wbr"), part] : [part]);

export const isolate = text => `\u2068${text}\u2069`;

/** An element with attributes, text and children. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}
