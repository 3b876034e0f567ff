/**
 * The text of a body, without its byte order mark. The mark decides the charset, then the header, then a `meta` element of HTML. Without
 * any, the body is UTF-8, or windows-1252 when its bytes are not UTF-8, as in browsers. Never throws: undecodable bytes become U+FFFD.
 *
 * @param charset the parameter of the `Content-Type` header
 */
export function decodeBody(body: Buffer, { charset, html }: { charset?: string; html: boolean }): string {
  const declared = byMark(body) ?? known(charset) ?? (html ? byMeta(body) : undefined);
  if (declared) return new TextDecoder(declared).decode(body);
  try {
    // `stream`: a body cut within a character is still UTF-8.
    return new TextDecoder('utf-8', { fatal: true }).decode(body, { stream: true });
  } catch {
    return new TextDecoder('windows-1252').decode(body);
  }
}

function byMark(body: Buffer): string | undefined {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return 'utf-8';
  if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be';
  if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le';
  return undefined;
}

/** The HTML standard looks at 1024 bytes, but some real pages have long comments before their head. */
const metaBytes = 4096;

function byMeta(body: Buffer): string | undefined {
  const start = body.subarray(0, metaBytes).toString('latin1');
  const found = /<meta\s[^>]{0,500}?charset\s{0,10}=\s{0,10}["']?\s{0,10}([\w.:-]{1,40})/i.exec(start);
  const charset = known(found?.[1]);
  // A body whose `meta` element reads as ASCII is not UTF-16, whatever the element says.
  return charset?.startsWith('utf-16') ? 'utf-8' : charset;
}

/** The name of a charset known to this host; undefined for an unknown label. */
function known(label: string | undefined): string | undefined {
  if (!label) return undefined;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}
