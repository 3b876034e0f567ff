import { describe, expect, it } from 'vitest';
import { type PageBody, readPage } from './read-page.ts';

const read = (body: string | Buffer, contentType?: string, format: PageBody['format'] = 'markdown') =>
  readPage({ body: Buffer.from(body), url: 'https://example.com/', contentType, format });

describe('readPage: charsets', () => {
  const cafe = { ok: true, content: 'café €' };

  it.each([
    ['UTF-8 without a declared charset', 'text/html', Buffer.from('café €')],
    ['the charset of the header', 'text/html; charset=ISO-8859-1', Buffer.from('caf\xe9 \x80', 'latin1')],
    ['a header in quotes and capitals', 'Text/HTML;Charset="WINDOWS-1252"', Buffer.from('caf\xe9 \x80', 'latin1')],
    ['the byte order mark before the header', 'text/html; charset=latin1', Buffer.from('\uFEFFcafé €')],
    ['UTF-16 by its mark', 'text/plain', Buffer.from('\uFEFFcafé €', 'utf16le')],
    ['UTF-16 by its header', 'text/plain; charset=utf-16le', Buffer.from('café €', 'utf16le')],
    ['a meta element', 'text/html', Buffer.from('<meta charset=windows-1252>caf\xe9 \x80', 'latin1')],
    [
      'an old meta element',
      'text/html',
      Buffer.from('<meta http-equiv="Content-Type" content="text/html; charset=latin1">caf\xe9 \x80', 'latin1'),
    ],
    ['the header before a meta element', 'text/html; charset=utf-8', Buffer.from('<meta charset=latin1>café €')],
    ['UTF-8 for an unknown charset', 'text/html; charset=x-none', Buffer.from('café €')],
    ['UTF-8 for a meta element that says UTF-16', 'text/html', Buffer.from('<meta charset="utf-16">café €')],
    ['windows-1252 for bytes that are not UTF-8', 'text/plain', Buffer.from('caf\xe9 \x80', 'latin1')],
  ])('takes %s', (_name, contentType, body) => expect(read(body, contentType)).toMatchObject(cafe));

  it('reads Shift_JIS, by header and by meta element', () => {
    const japanese = Buffer.from([0x93, 0xfa, 0x96, 0x7b, 0x8c, 0xea]);
    expect(read(japanese, 'text/html; charset=Shift_JIS')).toMatchObject({ content: '日本語' });
    expect(read(Buffer.concat([Buffer.from('<meta charset="shift_jis">'), japanese]), 'text/html')).toMatchObject({
      content: '日本語',
    });
  });

  it('keeps UTF-8 that was cut within a character', () =>
    expect(read(Buffer.from('é€').subarray(0, 4), 'text/plain')).toMatchObject({ content: 'é' }));
});

describe('readPage: types', () => {
  const source = ' {"a": "<b>"}\r\n';

  it.each([
    'text/plain',
    'text/markdown; charset=utf-8',
    'text/csv',
    'application/json',
    'application/vnd.api+json; version=1',
    'application/xml',
    'image/svg+xml',
    'application/javascript',
    'application/x-yaml',
    'application/octet-stream',
    undefined,
  ])('returns %s unchanged', (contentType) => {
    for (const format of ['markdown', 'text', 'raw'] as const) {
      expect(read(source, contentType, format)).toEqual({ ok: true, content: source, complete: true });
    }
  });

  it.each([
    'application/pdf',
    'image/png',
    'video/mp4',
    'application/zip',
    'font/woff2',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  ])('refuses %s', (contentType) =>
    expect(read('%PDF', contentType)).toEqual({ ok: false, reason: `it is ${contentType}` }),
  );

  it('refuses bytes that are not text, for any type', () => {
    const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 1]);
    expect(read(bytes, 'text/plain')).toMatchObject({ ok: false });
    expect(read(bytes, 'application/octet-stream')).toMatchObject({ ok: false });
    expect(read(Buffer.from([0x89, 0xff]), undefined)).toMatchObject({ ok: false });
  });

  it('reads a body without a type as HTML when it begins like HTML', () => {
    expect(read('\n<!DOCTYPE html><p>a', undefined)).toMatchObject({ content: 'a' });
    expect(read('<html lang=en><p>a', 'application/octet-stream')).toMatchObject({ content: 'a' });
    expect(read('<!DOCTYPE html><p>a', 'text/plain')).toMatchObject({ content: '<!DOCTYPE html><p>a' });
    expect(read('<p>a', 'application/xhtml+xml')).toMatchObject({ content: 'a' });
  });

  it('returns the source of HTML in the raw format', () => {
    expect(read('<meta charset=latin1>\n<p>caf\xe9', 'text/html', 'raw')).toMatchObject({
      content: expect.stringContaining('<p>caf'),
      complete: true,
    });
    expect(read(Buffer.from('<meta charset=latin1>caf\xe9', 'latin1'), 'text/html', 'raw')).toEqual({
      ok: true,
      content: '<meta charset=latin1>café',
      complete: true,
    });
  });

  it('reads an empty body as empty text', () =>
    expect(read('', 'image/png')).toEqual({ ok: true, content: '', complete: true }));
});
