/** Text cut at a byte, without the beginning of a character at its end. */
export function wholeCharacters(data: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, data.length); back++) {
    const byte = data[data.length - back] ?? 0;
    if (byte >= 0xc0) return back < lengthOf(byte) ? data.subarray(0, data.length - back) : data;
    if (byte < 0x80) return data;
  }
  return data;
}

const lengthOf = (first: number): number => (first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2);
