import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { EgressError } from './errors.ts';

/** What we ask for. */
export const ACCEPT_ENCODING = 'gzip, br';

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
};

/** Nobody encodes more often in earnest. */
const MAX_ENCODINGS = 2;

export interface Body {
  body: Buffer;
  truncated: boolean;
}

/**
 * Reads and decompresses a body, never holding more than the limit and one chunk: a bomb is cut while it streams.
 *
 * @param input.encoding the content-encoding header
 * @param input.tooLarge `truncate` keeps what came so far
 * Throws `EgressError` ETOOLARGE, or ENETWORK for what cannot be decoded; the source's own error.
 */
export async function readBody(
  source: Readable,
  input: {
    encoding: string | undefined;
    limits: { body_bytes: number; wire_bytes: number };
    tooLarge: 'truncate' | 'fail';
  },
): Promise<Body> {
  const { limits } = input;
  const meter = new Meter(limits.wire_bytes);
  const stages = [meter, ...planDecoders(input.encoding)];
  const last = stages.at(-1) ?? meter;
  // errors arrive at `last`, which is read below; `compose` would need a duplex
  pipeline([source, ...stages], () => {});
  const chunks: Buffer[] = [];
  let bytes = 0;
  const cut = (what: string, limit: number): Body => {
    if (input.tooLarge === 'truncate') return { body: Buffer.concat(chunks), truncated: true };
    throw new EgressError('ETOOLARGE', `The answer's body is larger than ${limit} bytes ${what}.`, {
      next: 'Ask for a part of it, or accept a truncated body.',
    });
  };
  try {
    for await (const chunk of last as AsyncIterable<Buffer>) {
      const room = limits.body_bytes - bytes;
      chunks.push(chunk.subarray(0, room));
      bytes += chunk.length;
      if (chunk.length > room) return cut('after decompression', limits.body_bytes);
    }
  } catch (error) {
    if (meter.bytes === 0 && isZlibError(error)) return { body: Buffer.alloc(0), truncated: false };
    if (error instanceof WireLimit) return cut('as it travels', limits.wire_bytes);
    throw isZlibError(error) ? broken(`cannot be decompressed: ${error.message}`, error) : error;
  } finally {
    source.destroy();
  }
  return { body: Buffer.concat(chunks), truncated: false };
}

class WireLimit extends Error {}

/** Counts the bytes as they travel. */
class Meter extends Transform {
  bytes = 0;
  readonly #limit: number;

  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    this.bytes += chunk.length;
    if (this.bytes > this.#limit) done(new WireLimit());
    else done(null, chunk);
  }
}

function planDecoders(header: string | undefined): Transform[] {
  const names = (header ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > MAX_ENCODINGS) throw broken(`is encoded ${names.length} times`);
  return names.reverse().map((name) => {
    const make = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
    if (!make) throw broken(`has the encoding ${JSON.stringify(name.slice(0, 50))}, which is not known here`);
    return make();
  });
}

function isZlibError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && /^(Z_|ERR__ERROR_|ERR_BROTLI_)/.test(String(error.code));
}

function broken(what: string, cause?: unknown): EgressError {
  return new EgressError('ENETWORK', `The answer's body ${what}.`, { next: 'Try another URL.', cause });
}
