/** The text of a whole file, byte order mark included; undefined for a binary file: a NUL in its first 8 KiB, or bytes outside of UTF-8. */
export function wholeText(data: Buffer): string | undefined {
  if (data.subarray(0, 8192).includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    return undefined;
  }
}
