import { maxListedBytes } from './protocol.ts';

/** Sorts by UTF-8 bytes. JavaScript's own order differs above U+FFFF. */
export function sortByBytes(texts: readonly string[]): string[] {
  return texts
    .map((text) => ({ text, bytes: Buffer.from(text) }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
    .map(({ text }) => text);
}

/** As many of the first items as fit into one reply. JSON writes a control character as six. */
export function fitReply<Item>(items: readonly Item[]): Item[] {
  let bytes = 0;
  const end = items.findIndex((item) => {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    return bytes > maxListedBytes;
  });
  return items.slice(0, end === -1 ? items.length : end);
}
