/**
 * A `content-disposition` (RFC 6266) by which a browser saves the answer and never shows the content. The run chose the name, so characters
 * other than plain ASCII are only in the encoded form.
 */
export function attachment(name: string): string {
  const simple = name.replaceAll(/[^\w.-]/g, '_');
  const encoded = simple === name ? '' : `; filename*=UTF-8''${encode(name)}`;
  return `attachment; filename="${simple}"${encoded}`;
}

/** `encodeURIComponent` leaves some characters forbidden by RFC 5987. */
const encode = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replaceAll(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
