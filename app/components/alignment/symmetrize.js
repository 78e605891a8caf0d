// One set of links from two directions: the rules of model/alignment/symmetrize.py. A link is [source, target].

export const METHODS = ["intersection", "union", "grow-diag", "grow-diag-final-and"];

const NEIGHBOURS = [[-1, 0], [0, -1], [1, 0], [0, 1], [-1, -1], [-1, 1], [1, -1], [1, 1]];

const before = ([a, b], [c, d]) => a - c || b - d;
const nameOf = ([source, target]) => `${source}-${target}`;

/** Links in order of source and target. */
export const sorted = links => [...links].sort(before);

export function symmetrize(forward, backward, method) {
  const inBackward = new Set(backward.map(nameOf)), inForward = new Set(forward.map(nameOf));
  const both = forward.filter(link => inBackward.has(nameOf(link)));
  const either = [...forward, ...backward.filter(link => !inForward.has(nameOf(link)))];
  if (method === "intersection") return sorted(both);
  if (method === "union") return sorted(either);
  const grown = grow(both, either);
  return sorted(method === "grow-diag" ? grown : finish(finish(grown, forward), backward));
}

/** Sweeps over the accepted links in order, added ones included, until a sweep adds none. */
function grow(links, union) {
  const wanted = new Set(union.map(nameOf)), grown = new Map(links.map(link => [nameOf(link), link]));
  const sources = new Set(links.map(([source]) => source)), targets = new Set(links.map(([, target]) => target));
  for (let added = true; added;) {
    added = false;
    const sweep = sorted(grown.values());
    for (let at = 0; at < sweep.length; at++) {
      const here = sweep[at];
      for (const [down, right] of NEIGHBOURS) {
        const link = [here[0] + down, here[1] + right], name = nameOf(link);
        if (!wanted.has(name) || grown.has(name) || (sources.has(link[0]) && targets.has(link[1]))) continue;
        grown.set(name, link);
        sources.add(link[0]);
        targets.add(link[1]);
        added = true;
        if (before(link, here) > 0) insert(sweep, at + 1, link);
      }
    }
  }
  return [...grown.values()];
}

function insert(sweep, from, link) {
  let at = from;
  while (at < sweep.length && before(sweep[at], link) < 0) at++;
  sweep.splice(at, 0, link);
}

/** Links between two words that are both still free. */
function finish(links, candidates) {
  const finished = [...links], sources = new Set(links.map(([source]) => source)), targets = new Set(links.map(([, target]) => target));
  for (const link of sorted(candidates)) {
    if (sources.has(link[0]) || targets.has(link[1])) continue;
    finished.push(link);
    sources.add(link[0]);
    targets.add(link[1]);
  }
  return finished;
}
