/**
 * A `content-disposition` (RFC 6266) that has a browser save what it gets and never show it. The name is the run's: what is not plain
 * ASCII is said in the encoded form only.
 */
export function attachment(name: string): string {
  const simple = name.replaceAll(/[^\w.-]/g, '_');
  const encoded = simple === name ? '' : `; filename*=UTF-8''${encode(name)}`;
  return `attachment; filename="${simple}"${encoded}`;
}

/** `encodeURIComponent` leaves some characters that RFC 5987 does not. */
const encode = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replaceAll(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
