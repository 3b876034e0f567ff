const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const openers: ReadonlySet<number> = new Set([0x5b, 0x7b]);

/**
 * Estimates the number of values in a JSON text without parsing it: commas and opening brackets outside strings. 2 MiB take 4 ms. Parsing
 * and validating 2 MiB of empty objects takes seconds.
 */
export function countValues(json: Uint8Array): number {
  let values = 1;
  let quoted = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] ?? 0;
    if (quoted) {
      if (byte === backslash) at++;
      else if (byte === quote) quoted = false;
    } else if (byte === quote) quoted = true;
    else if (byte === comma || openers.has(byte)) values++;
  }
  return values;
}
