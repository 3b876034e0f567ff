import { MOST_LISTED_BYTES } from './protocol.ts';

/** The first of the items, as many as fit into one reply. Names of control characters take six times their length as JSON. */
export function whatFits<Item>(items: readonly Item[]): Item[] {
  let bytes = 0;
  const end = items.findIndex((item) => {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    return bytes > MOST_LISTED_BYTES;
  });
  return items.slice(0, end === -1 ? items.length : end);
}
