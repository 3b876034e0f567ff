/** A character has a first byte and up to three continuation bytes. */
export const mostContinuations = 3;

export function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** @returns how many bytes at the end belong to an incomplete character; 0 to 3 */
export function incompleteBytes(data: Buffer): number {
  for (let back = 1; back <= Math.min(mostContinuations, data.length); back++) {
    const byte = data[data.length - back];
    if (isContinuation(byte)) continue;
    return lengthOf(byte ?? 0) > back ? back : 0;
  }
  return 0;
}

/** The length of a character by its first byte. */
function lengthOf(first: number): number {
  if (first >= 0xf0) return 4;
  if (first >= 0xe0) return 3;
  return first >= 0xc0 ? 2 : 1;
}
