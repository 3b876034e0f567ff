import { Readable, type Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { EgressError } from './errors.ts';
import type { FetchLimits } from './limits.ts';

export const acceptEncoding = 'gzip, br';

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
};

/** No honest server encodes more often. */
const maxEncodings = 2;

export interface Body {
  body: Buffer;
  truncated: boolean;
}

/**
 * Reads and decompresses a body. Memory holds at most the limit and a chunk: a decompression bomb is cut in mid-stream.
 *
 * @param input.encoding the content-encoding header
 * @param input.tooLarge `truncate` keeps the bytes so far
 * Throws `EgressError` ETOOLARGE, or ENETWORK for an undecodable body; the source's own error.
 */
export async function readBody(
  source: Readable,
  input: { encoding: string; limits: FetchLimits; tooLarge: 'truncate' | 'fail' },
): Promise<Body> {
  const { body_bytes, wire_bytes } = input.limits;
  const chunks: Buffer[] = [];
  const read = { wire: 0, body: 0 };
  const cutAtWireLimit = async function* () {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      const free = wire_bytes - read.wire;
      read.wire += chunk.length;
      yield chunk.subarray(0, free);
      if (chunk.length > free) return;
    }
  };
  const keep = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const free = body_bytes - read.body;
      read.body += chunk.length;
      chunks.push(chunk.subarray(0, free));
      done(chunk.length > free ? new Error('the body is over its limit') : null);
    },
  });
  const over = () => read.body > body_bytes || read.wire > wire_bytes;
  try {
    await pipeline([Readable.from(cutAtWireLimit()), ...planDecoders(input.encoding), keep]);
  } catch (error) {
    const isEmpty = read.wire === 0 && isZlibError(error); // an empty body need not be encoded
    if (!isEmpty && !over())
      throw isZlibError(error) ? broken(`cannot be decompressed: ${error.message}`, error) : error;
  } finally {
    source.destroy();
  }
  if (over() && input.tooLarge === 'fail') {
    const limit = read.body > body_bytes ? `${body_bytes} bytes after` : `${wire_bytes} bytes before`;
    throw new EgressError('ETOOLARGE', `The response body is larger than ${limit} decompression.`, {
      next: 'Ask for a part of it, or accept a truncated body.',
    });
  }
  return { body: Buffer.concat(chunks), truncated: over() };
}

function planDecoders(header: string): Transform[] {
  const names = header
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > maxEncodings) throw broken(`is encoded ${names.length} times`);
  return names.reverse().map((name) => {
    const make = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
    if (!make) throw broken(`has the unknown encoding ${JSON.stringify(name.slice(0, 50))}`);
    return make();
  });
}

function isZlibError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && /^(Z_|ERR__ERROR_|ERR_BROTLI_)/.test(String(error.code));
}

function broken(what: string, cause?: unknown): EgressError {
  return new EgressError('ENETWORK', `The response body ${what}.`, { next: 'Try another URL.', cause });
}
