import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { type Entry, type Options, open, type ZipFile } from 'yauzl';
import type { BytePath } from '../../files/index.ts';
import { archiveError, type Unpacker } from './unpack.ts';

const openZip = promisify<string, Options, ZipFile>(open);

const isLink = (mode: number): boolean => (mode & 0o170000) === 0o120000;
const largestTarget = 4096;

/** Reads a zip in the order of its directory. */
export async function readZip(path: string, unpacker: Unpacker): Promise<void> {
  const zip = await openZip(path, {
    lazyEntries: true,
    autoClose: false,
    decodeStrings: false,
    validateEntrySizes: true,
  });
  try {
    for await (const entry of entriesOf(zip)) await unpackEntry(zip, entry, unpacker);
  } finally {
    zip.close();
  }
}

async function* entriesOf(zip: ZipFile): AsyncGenerator<Entry> {
  for (;;) {
    const next = Promise.withResolvers<Entry | undefined>();
    const listeners = {
      entry: (entry: Entry) => next.resolve(entry),
      end: () => next.resolve(undefined),
      error: (error: Error) => next.reject(error),
    };
    for (const [event, listener] of Object.entries(listeners)) zip.once(event, listener);
    zip.readEntry();
    const entry = await next.promise.finally(() => {
      for (const [event, listener] of Object.entries(listeners)) zip.removeListener(event, listener);
    });
    if (entry === undefined) return;
    yield entry;
  }
}

async function unpackEntry(zip: ZipFile, entry: Entry, unpacker: Unpacker): Promise<void> {
  const name = nameOf(entry);
  if (entry.isEncrypted()) throw archiveError('it is encrypted');
  // When a Unix system made the archive, the upper half is the mode.
  const unix = entry.versionMadeBy >> 8 === 3 ? entry.externalFileAttributes >>> 16 : 0;
  const mode = unix === 0 ? 0o644 : unix;
  if (name.endsWith('/')) return unpacker.folder(name, unix === 0 ? 0o755 : unix);
  const content = await openEntry(zip, entry);
  if (!isLink(unix)) return unpacker.file(name, mode, verified(content, entry));
  if (entry.uncompressedSize > largestTarget) throw archiveError('a link in it has a target of more than 4 KiB');
  unpacker.link(name, Buffer.concat(await content.toArray()).toString('latin1'));
}

const madeByDos = 0;
const unicodePath = 0x7075;

/** The bytes of the name, or of its Unicode field. Archivers of DOS and Windows may separate folders by backslashes. */
function nameOf(entry: Entry): BytePath {
  const raw = entry.fileNameRaw;
  const field = entry.extraFields.find(({ id, data }) => id === unicodePath && data.length > 5 && data[0] === 1);
  const isOfName = field !== undefined && field.data.readUInt32LE(1) === crc32(raw);
  const name = (isOfName ? field.data.subarray(5) : raw).toString('latin1');
  return entry.versionMadeBy >> 8 === madeByDos ? name.replaceAll('\\', '/') : name;
}

/** yauzl checks sizes, but not the checksum. */
async function* verified(content: AsyncIterable<Buffer>, entry: Entry): AsyncGenerator<Buffer> {
  let sum = 0;
  for await (const piece of content) {
    sum = crc32(piece, sum);
    yield piece;
  }
  if (sum !== entry.crc32)
    throw archiveError(`the checksum of ${entry.fileNameRaw.toString('utf8')} does not match its content`);
}

function openEntry(zip: ZipFile, entry: Entry): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(stream)));
  });
}
