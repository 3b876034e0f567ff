/** Characters of the longest address that is kept. Without it, links relative to a long base make a page many times its size. */
const maxUrl = 2048;

/** An address a reader can follow, absolute; undefined for `data:`, `javascript:` and the like, for what is no URL, and for what is too long. */
export function absoluteUrl(reference: string | undefined, base: string): string | undefined {
  if (reference === undefined || reference.length > maxUrl || !URL.canParse(reference, base)) return undefined;
  const { protocol, href } = new URL(reference, base);
  return followed.has(protocol) && href.length <= maxUrl ? href : undefined;
}

const followed = new Set(['http:', 'https:', 'mailto:']);
