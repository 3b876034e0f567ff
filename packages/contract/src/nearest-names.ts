/**
 * The names nearest to a mistaken name, best first: all names within an edit distance of half the mistaken name's length, otherwise the
 * first of all names. Case and separators count only between equally near names, so `ReadFile` finds `read_file`. A part of a name is
 * nearer than any misspelling.
 */
export function nearestNames(wanted: string, names: readonly string[], limit = 3): string[] {
  const target = plain(wanted);
  const ranked = names
    .map((name) => ({ name, distance: distance(target, plain(name)), exact: editDistance(cut(wanted), cut(name)) }))
    .sort((a, b) => a.distance - b.distance || a.exact - b.exact || (a.name < b.name ? -1 : 1));
  const near = ranked.filter(({ distance }) => distance <= Math.ceil(target.length / 2));
  return (near.length > 0 ? near : ranked).slice(0, limit).map(({ name }) => name);
}

/** Characters compared. A model can invent a name of any length, and the distance takes quadratic time. */
const maxCompared = 64;

const cut = (name: string): string => name.slice(0, maxCompared);

const plain = (name: string): string =>
  cut(name)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '');

function distance(wanted: string, name: string): number {
  if (wanted === name) return 0;
  const [shorter, longer] = wanted.length < name.length ? [wanted, name] : [name, wanted];
  return shorter.length >= minPart && longer.includes(shorter) ? 0.5 : editDistance(wanted, name);
}

const minPart = 3;

/** Levenshtein distance, row by row. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
