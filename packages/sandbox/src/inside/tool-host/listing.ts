import { maxListedBytes } from './protocol.ts';

/** Compares UTF-8 bytes. JavaScript's own order differs above U+FFFF. */
export function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
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
