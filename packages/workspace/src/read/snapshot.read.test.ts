import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { expect } from 'vitest';
import { rejects, test } from '../testing/fixture.ts';
import { readTree, runId, type Temporary, writeTree } from '../testing/index.ts';

async function start(t: Temporary) {
  const { base, path } = await t.begin({ type: 'empty' });
  writeTree(path, {
    'a.txt': 'a\r\n',
    'dir/run.sh': { executable: 'x' },
    'dir/link': { link: '../a.txt' },
    'large.bin': Buffer.alloc(3_000_000, 7),
    'version.txt': 'commit $Format:%H$\n',
    '.gitattributes': '*.txt export-subst text eol=crlf\ndir export-ignore\nlarge.bin export-ignore filter=evil\n',
  });
  writeFileSync(Buffer.from(`${path}/caf\xe9`, 'latin1'), 'bytes');
  const { id } = await t.snapshot(base.id);
  return { path, id };
}

const bytesOf = async (stream: Readable) => Buffer.concat(await stream.toArray());

test('lists the files of a snapshot or a folder, with mode and size', async ({ t }) => {
  const { id } = await start(t);
  const files = await t.workspaces.files({ runId, snapshot: id });
  expect(files.map(({ path, mode, bytes }) => `${mode} ${bytes} ${path}`)).toEqual([
    expect.stringMatching(/^100644 \d+ \.gitattributes$/),
    '100644 3 a.txt',
    '100644 5 "caf\\351"',
    '120000 8 dir/link',
    '100755 1 dir/run.sh',
    '100644 3000000 large.bin',
    '100644 19 version.txt',
  ]);
  const below = await t.workspaces.files({ runId, snapshot: id, path: 'dir/' });
  expect(below.map(({ path }) => path)).toEqual(['dir/link', 'dir/run.sh']);
  await rejects(t.workspaces.files({ runId, snapshot: id, path: '../x' }), 'EPATHINVALID');
  await rejects(t.workspaces.files({ runId, snapshot: 'f'.repeat(40) }), 'ESNAPSHOTUNKNOWN');
});

test('reads a file of the snapshot although the tree has changed', async ({ t }) => {
  const { id, path } = await start(t);
  writeFileSync(join(path, 'a.txt'), 'changed since');
  const read = async (name: string) => bytesOf((await t.workspaces.read({ runId, snapshot: id, path: name })).content);
  expect((await read('a.txt')).toString()).toBe('a\r\n');
  expect((await read('dir/link')).toString()).toBe('../a.txt');
  expect((await read('"caf\\351"')).toString()).toBe('bytes');
  expect((await read('large.bin')).equals(Buffer.alloc(3_000_000, 7))).toBe(true);
  await rejects(read('dir'), 'EPATHMISSING');
  await rejects(read('none'), 'EPATHMISSING');
});

test('destroying the stream ends git', async ({ t }) => {
  const { id } = await start(t);
  const { content } = await t.workspaces.read({ runId, snapshot: id, path: 'large.bin' });
  const closed = new Promise((resolve) => content.once('close', resolve));
  content.once('data', () => content.destroy());
  content.on('error', () => {});
  await closed;
  expect(execFileSync('ps', ['-eo', 'args']).toString()).not.toContain(`${t.shadow(runId)} cat-file`);
});

test.for(['tar.gz', 'zip'] as const)(
  'an archive (%s) has the exact bytes despite attributes',
  async (format, { t }) => {
    const { id, path } = await start(t);
    const file = join(t.path, `archive.${format}`);
    const out = join(t.path, 'out');
    mkdirSync(out);
    writeFileSync(file, await bytesOf(await t.workspaces.archive({ runId, snapshot: id, format })));
    if (format === 'tar.gz') {
      execFileSync('tar', ['-C', out, '-xzf', file]);
      expect(readTree(out)).toEqual(readTree(path));
    } else {
      execFileSync('python3', [
        '-c',
        `import zipfile; zipfile.ZipFile(${JSON.stringify(file)}).extractall(${JSON.stringify(out)})`,
      ]);
      chmodSync(out, 0o755);
      expect(readTree(out)).toMatchObject({
        'a.txt': 'file a\r\n',
        'version.txt': 'file commit $Format:%H$\n',
        dir: 'folder',
      });
    }
    const some = join(t.path, 'some.tar.gz');
    const paths = ['dir/run.sh', 'a.txt'];
    writeFileSync(some, await bytesOf(await t.workspaces.archive({ runId, snapshot: id, format: 'tar.gz', paths })));
    expect(execFileSync('tar', ['-tzf', some]).toString().split('\n').filter(Boolean)).toEqual([
      'a.txt',
      'dir/',
      'dir/run.sh',
    ]);
    await rejects(t.workspaces.archive({ runId, snapshot: id, format, paths: ['none'] }), 'EPATHMISSING');
  },
);

test('archives are reproducible, keep names that are not UTF-8, and leave no trace', async ({ t }) => {
  const { id } = await start(t);
  const before = readTree(t.shadow(runId));
  const make = async (format: 'tar.gz' | 'zip', paths?: string[]) =>
    bytesOf(await t.workspaces.archive({ runId, snapshot: id, format, ...(paths && { paths }) }));
  const paths = ['"caf\\351"', 'dir/run.sh'];
  for (const format of ['tar.gz', 'zip'] as const) {
    const [whole, part] = [await make(format), await make(format, paths)];
    expect((await make(format)).equals(whole)).toBe(true);
    expect((await make(format, paths)).equals(part)).toBe(true);
  }
  const file = join(t.path, 'part.zip');
  writeFileSync(file, await make('zip', paths));
  const program = `import sys,zipfile
z = zipfile.ZipFile(sys.argv[1])
print(z.testzip(), [(i.filename.encode('cp437').hex(), oct(i.external_attr >> 16), z.read(i).decode()) for i in z.infolist() if not i.is_dir()])`;
  expect(execFileSync('python3', ['-c', program, file]).toString().trim()).toBe(
    `None [('${Buffer.from('caf\xe9', 'latin1').toString('hex')}', '0o0', 'bytes'), ('${Buffer.from('dir/run.sh').toString('hex')}', '0o100755', 'x')]`,
  );
  expect(readTree(t.shadow(runId))).toEqual(before);
  expect(readdirSync(join(t.dataDir, 'git')).filter((name) => name.startsWith('tmp-'))).toEqual([]);
});

test('an empty archive can be opened', async ({ t }) => {
  const { id } = await start(t);
  const file = join(t.path, 'empty.tar.gz');
  writeFileSync(file, await bytesOf(await t.workspaces.archive({ runId, snapshot: id, format: 'tar.gz', paths: [] })));
  expect(execFileSync('tar', ['-tzf', file]).toString()).toBe('');
});

test('an unread or aborted download leaves no process and no file', async ({ t }) => {
  const { id } = await start(t);
  const running = () => execFileSync('ps', ['-eo', 'args']).toString().includes(t.shadow(runId));
  const paths = ['large.bin', 'a.txt'];
  const streams = await Promise.all([
    t.workspaces.archive({ runId, snapshot: id, format: 'zip', paths }),
    t.workspaces.archive({ runId, snapshot: id, format: 'tar.gz' }),
    t.workspaces.read({ runId, snapshot: id, path: 'large.bin' }).then(({ content }) => content),
  ]);
  expect(running()).toBe(false);
  for (const stream of streams) {
    stream.read(0);
    await once(stream, 'readable');
    const closed = once(stream, 'close');
    stream.destroy();
    await closed;
  }
  await expect.poll(running).toBe(false);
  await expect.poll(() => readdirSync(join(t.dataDir, 'git')).filter((name) => name.startsWith('tmp-'))).toEqual([]);
});

test('a download fails when git fails', async ({ t }) => {
  const { id } = await start(t);
  const { content } = await t.workspaces.read({ runId, snapshot: id, path: 'large.bin' });
  const archive = await t.workspaces.archive({ runId, snapshot: id, format: 'tar.gz' });
  await t.workspaces.discard(runId);
  await rejects(bytesOf(content), 'EGITFAILED');
  await rejects(bytesOf(archive), 'EGITFAILED');
});
