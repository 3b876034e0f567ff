import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { git } from '../../testing/index.ts';
import { createObjectWriter } from './object-writer.ts';
import { openStoredPack } from './stored-pack.ts';

const sha1 = (bytes: Uint8Array) => createHash('sha1').update(bytes).digest();

test('an index with offsets of 64 bits is read', async () => {
  const path = mkdtempSync(join(tmpdir(), 'holdpoint-pack-'));
  try {
    git(path, 'init', '-q', '--bare', '.');
    const writer = createObjectWriter({ gitDir: path, known: new Set() });
    const oids = ['a', 'b', 'c'].map((text) => writer.blob(Buffer.from(text)));
    await writer.flush();
    const folder = join(path, 'objects/pack');
    const [name = ''] = readdirSync(folder).flatMap((one) => /^(pack-.*)\.idx$/.exec(one)?.[1] ?? []);
    const index = readFileSync(join(folder, `${name}.idx`));
    // The first object's offset moves to the table that a pack of 2 GiB has.
    const offsetsAt = 8 + 256 * 4 + 3 * 24;
    const large = Buffer.alloc(8);
    large.writeBigUInt64BE(BigInt(index.readUInt32BE(offsetsAt)));
    const body = Buffer.concat([index.subarray(0, offsetsAt + 12), large, index.subarray(offsetsAt + 12, -20)]);
    body.writeUInt32BE(2 ** 31, offsetsAt);
    rmSync(join(folder, `${name}.idx`));
    writeFileSync(join(folder, `${name}.idx`), Buffer.concat([body, sha1(body)]));
    using pack = openStoredPack(join(folder, name));
    expect(oids.map((oid) => pack?.read(oid)?.oid)).toEqual(oids);
    expect(git(path, 'fsck', '--full', '--no-dangling')).toBe('');

    // A table that ends before the offset.
    body.writeUInt32BE(2 ** 31 + 1, offsetsAt);
    writeFileSync(join(folder, `${name}.idx`), Buffer.concat([body, sha1(body)]));
    expect(openStoredPack(join(folder, name))).toBe(undefined);
  } finally {
    rmSync(path, { recursive: true });
  }
});
