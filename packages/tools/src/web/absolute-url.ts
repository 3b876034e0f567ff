/** Characters. Without this limit, links relative to a long base address multiply the size of a page. */
const maxUrl = 2048;

/**
 * An absolute address for a reader to follow; undefined for other schemes (`data:`, `javascript:`), invalid URLs and overlong addresses.
 */
export function absoluteUrl(reference: string | undefined, base: string): string | undefined {
  if (reference === undefined || reference.length > maxUrl || !URL.canParse(reference, base)) return undefined;
  const { protocol, href } = new URL(reference, base);
  return followed.has(protocol) && href.length <= maxUrl ? href : undefined;
}

const followed = new Set(['http:', 'https:', 'mailto:']);
