import { Readable } from 'node:stream';
import { z } from 'zod';

/**
 * A `content-disposition` (RFC 6266) that makes a browser save the answer and never show it. The run chose the name, so characters other
 * than plain ASCII are only in the encoded form.
 */
export function attachment(name: string): string {
  const simple = name.replaceAll(/[^\w.-]/g, '_');
  const encoded = simple === name ? '' : `; filename*=UTF-8''${encode(name)}`;
  return `attachment; filename="${simple}"${encoded}`;
}

/** `encodeURIComponent` leaves some characters that RFC 5987 does not. */
const encode = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replaceAll(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);

/** An answer whose body is bytes, streamed as they are. */
export const binarySchema = z.instanceof(Readable).meta({ type: 'string', format: 'binary' });
