/** Compares UTF-8 bytes. JavaScript's own order differs above U+FFFF. */
export function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
