/** Characters of the longest address that is kept. Without it, links relative to a long base make a page many times its size. */
const MAX_URL = 2048;

/** An address a reader can follow, absolute; undefined for `data:`, `javascript:` and the like, for what is no URL, and for what is too long. */
export function absoluteUrl(reference: string | undefined, base: string): string | undefined {
  if (reference === undefined || reference.length > MAX_URL || !URL.canParse(reference, base)) return undefined;
  const { protocol, href } = new URL(reference, base);
  return FOLLOWED.has(protocol) && href.length <= MAX_URL ? href : undefined;
}

const FOLLOWED = new Set(['http:', 'https:', 'mailto:']);
