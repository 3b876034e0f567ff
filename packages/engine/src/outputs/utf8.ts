/** A character has one first byte and up to three of these. */
export const mostContinuations = 3;

export function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** @returns how many bytes at the end begin a character and do not end it; 0 to 3 */
export function openBytes(data: Buffer): number {
  for (let back = 1; back <= Math.min(mostContinuations, data.length); back++) {
    const byte = data[data.length - back];
    if (isContinuation(byte)) continue;
    return lengthOf(byte ?? 0) > back ? back : 0;
  }
  return 0;
}

/** Bytes of the character that begins with this one. */
function lengthOf(first: number): number {
  if (first >= 0xf0) return 4;
  if (first >= 0xe0) return 3;
  return first >= 0xc0 ? 2 : 1;
}
