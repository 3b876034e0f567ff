import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { rejects, test } from '../../testing/fixture.ts';
import { readTree, runId, type Temporary, temporary } from '../../testing/index.ts';

/** A tar made by Python, which also writes entries that a careful program refuses. */
function makeTar(t: Temporary, name: string, lines: string): string {
  const path = join(t.path, name);
  const script = `
import tarfile, io
t = tarfile.open(${JSON.stringify(path)}, "w")
def add(name, data=b"", **fields):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for key, value in fields.items(): setattr(info, key, value)
    t.addfile(info, io.BytesIO(data) if data else None)
${lines}
t.close()
`;
  execFileSync('python3', ['-c', script]);
  return path;
}

function makeZip(t: Temporary, name: string, lines: string): string {
  const path = join(t.path, name);
  execFileSync('python3', [
    '-c',
    `import zipfile, stat\nz = zipfile.ZipFile(${JSON.stringify(path)}, "w")\n${lines}\nz.close()\n`,
  ]);
  return path;
}

const bring = async (t: Temporary, path: string, more: object = {}) => {
  const made = await t.workspaces.materialise({ runId, source: { type: 'archive', path, ...more } });
  return { made, tree: readTree(await t.tree()) };
};

test.for(['tar', 'tar.gz', 'zip'] as const)(
  'reads a %s of a real tool with modes and links, by its content',
  async (format, { t }) => {
    const source = t.source({
      'a.txt': 'a\n',
      'deep/er/run.sh': { executable: '#!/bin/sh\n' },
      'deep/link': { link: '../a.txt' },
      empty: null,
      'empty.txt': '',
      [`long/${'x'.repeat(120)}/${'y'.repeat(120)}`]: 'long\n',
      '.git/config': 'mine\n',
      'ünïcode.txt': 'u\n',
    });
    const path = join(t.path, 'archive.bin');
    if (format === 'zip') execFileSync('python3', ['-c', zipTree, source, path]);
    else execFileSync('tar', ['-C', source, format === 'tar' ? '-cf' : '-czf', path, '.']);
    const { made, tree } = await bring(t, path);
    const { '.git': _, '.git/config': __, ...expected } = readTree(source);
    expect(tree).toEqual(expected);
    expect(made.skipped).toEqual([]);
    await rejects(t.workspaces.planPublish({ runId, snapshot: made.id, target: { message: 'm' } }), 'ENOTPUBLISHABLE');
  },
);

const zipTree = `
import os, stat, sys, zipfile
source, path = sys.argv[1:]
z = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
for root, folders, files in os.walk(source):
    for name in files + [f for f in folders if os.path.islink(os.path.join(root, f))]:
        full = os.path.join(root, name)
        info = zipfile.ZipInfo(os.path.relpath(full, source))
        status = os.lstat(full)
        info.external_attr = status.st_mode << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        z.writestr(info, os.readlink(full) if stat.S_ISLNK(status.st_mode) else open(full, "rb").read())
    for name in folders:
        z.writestr(zipfile.ZipInfo(os.path.relpath(os.path.join(root, name), source) + "/"), b"")
z.close()
`;

test.for<[string, string]>([
  ['a path that leads up', 'add("../outside", b"x")'],
  ['an absolute path', 'add("/tmp/holdpoint-outside", b"x")'],
  ['a path that leads up further down', 'add("a/../../outside", b"x")'],
  ['a file below a planted link', 'add("way", type=tarfile.SYMTYPE, linkname="/tmp")\nadd("way/outside", b"x")'],
  [
    'a file below a link to a sibling',
    'add("d", type=tarfile.DIRTYPE)\nadd("way", type=tarfile.SYMTYPE, linkname="d")\nadd("way/x", b"x")',
  ],
  ['a hard link to a file of the host', 'add("passwd", type=tarfile.LNKTYPE, linkname="/etc/passwd")'],
  ['a hard link that leads up', 'add("passwd", type=tarfile.LNKTYPE, linkname="../../etc/passwd")'],
  [
    'a hard link through a planted link',
    'add("etc", type=tarfile.SYMTYPE, linkname="/etc")\nadd("p", type=tarfile.LNKTYPE, linkname="etc/passwd")',
  ],
  ['a file in the place of a full folder', 'add("d/x", b"x")\nadd("d", b"x")'],
])('rejects %s and leaves nothing', async ([_, lines], { t }) => {
  const path = makeTar(t, 'hostile.tar', lines);
  const before = readdirSync(t.path).sort();
  await rejects(bring(t, path), 'EARCHIVE', { retryable: false });
  await rejects(t.workspaces.locate({ runId: runId, epoch: 1 }), 'EWORKSPACEMISSING');
  expect(readdirSync(t.path).sort()).toEqual(before);
  expect(existsSync('/tmp/outside') || existsSync('/tmp/holdpoint-outside')).toBe(false);
});

test('records devices and pipes, omits repositories, and lets later entries win', async ({ t }) => {
  const path = makeTar(
    t,
    'odd.tar',
    `add("pipe", type=tarfile.FIFOTYPE)
add("disk", type=tarfile.BLKTYPE, devmajor=8, devminor=0)
add(".git/hooks/post-checkout", b"#!/bin/sh", mode=0o755)
add("sub/.GIT/config", b"x")
add("a", b"first")
add("link", type=tarfile.SYMTYPE, linkname="/etc/passwd")
add("link", b"a file now")
add("a", b"second")
add("same", type=tarfile.LNKTYPE, linkname="a")
add("set", b"x", mode=0o4777)`,
  );
  const { made, tree } = await bring(t, path);
  expect(tree).toEqual({ a: 'file second', link: 'file a file now', same: 'file second', set: 'script x' });
  expect(made.skipped).toEqual([
    { path: 'disk', reason: 'device' },
    { path: 'pipe', reason: 'fifo' },
  ]);
  const root = await t.tree();
  expect(lstatSync(join(root, 'set')).mode & 0o7000).toBe(0);
});

test('keeps the bytes of names that are not UTF-8', async ({ t }) => {
  const source = join(t.path, 'source');
  mkdirSync(source);
  writeFileSync(Buffer.from(`${source}/caf\xe9`, 'latin1'), 'x');
  const path = join(t.path, 'bytes.tar');
  execFileSync('tar', ['-C', source, '--format=gnu', '-cf', path, '.']);
  expect((await bring(t, path)).tree).toEqual({ 'caf\xe9': 'file x' });
});

test.for<[string, string]>([
  ['a zip that leads up', 'z.writestr("../outside", "x")'],
  ['a zip with an absolute path', 'z.writestr("/tmp/outside", "x")'],
  [
    'a zip that writes through a link',
    'i = zipfile.ZipInfo("way"); i.create_system = 3; i.external_attr = (stat.S_IFLNK | 0o777) << 16; z.writestr(i, "/tmp"); z.writestr("way/outside", "x")',
  ],
])('rejects %s', async ([_, lines], { t }) => {
  await rejects(bring(t, makeZip(t, 'hostile.zip', lines)), 'EARCHIVE');
  expect(existsSync('/tmp/outside')).toBe(false);
});

test('rejects sparse files and extended names that are not UTF-8', async ({ t }) => {
  const source = t.source({ 'sub/a': 'a' });
  writeFileSync(join(source, 'sparse'), '');
  truncateSync(join(source, 'sparse'), 1024 * 1024);
  const tar = (name: string, ...args: string[]) => {
    const path = join(t.path, name);
    execFileSync('tar', ['-C', source, ...args, '-cf', path, '.']);
    return path;
  };
  const refused = {
    sparse: tar('gnu.tar', '--sparse'),
    'sparse in an extended header': tar('posix.tar', '--sparse', '--format=posix'),
    'not UTF-8 in an extended header': makeTar(t, 'pax.tar', 'add("caf\\udce9" + "x" * 120, b"x")'),
  };
  for (const [name, path] of Object.entries(refused)) {
    await expect(bring(t, path), name).rejects.toMatchObject({ code: 'EARCHIVE' });
  }
  rmSync(join(source, 'sparse'));
  expect((await bring(t, tar('v7.tar', '--format=v7'))).tree).toEqual({ sub: 'folder', 'sub/a': 'file a' });
});

test('rejects too long paths and hard links to excluded files', async ({ t }) => {
  const cases = [
    'add("d/" * 300 + "x", b"x")',
    'add("n" * 300, b"x")',
    'add("secret", b"x")\nadd("other", type=tarfile.LNKTYPE, linkname="secret")',
  ];
  for (const [index, lines] of cases.entries()) {
    const path = makeTar(t, `${index}.tar`, lines);
    await expect(bring(t, path, { exclude: ['secret'] }), lines).rejects.toMatchObject({ code: 'EARCHIVE' });
  }
  expect(readdirSync(join(t.dataDir, 'runs'))).toEqual([]);
});

test('reads the folders of a Windows zip, and an abort leaves nothing', async ({ t }) => {
  const lines = 'i = zipfile.ZipInfo(); i.filename = "dir\\\\a.txt"; i.create_system = 0; z.writestr(i, "x")';
  const path = makeZip(t, 'windows.zip', lines);
  expect((await bring(t, path)).tree).toEqual({ dir: 'folder', 'dir/a.txt': 'file x' });

  const large = makeTar(t, 'large.tar', 'for i in range(200): add("f%d" % i, b"x" * 200000)');
  const controller = new AbortController();
  const { signal } = controller;
  const source = { type: 'archive', path: large } as const;
  const onProgress = () => controller.abort(new Error('stop'));
  const points: string[] = [];
  const watched = t.reopen({ onPoint: (point) => points.push(point) });
  await expect(watched.materialise({ runId: 'run_2', source, signal, onProgress })).rejects.toThrow('stop');
  expect(points.filter((point) => point === 'materialise.file').length).toBeLessThan(200);
  expect(readdirSync(join(t.dataDir, 'runs'))).toEqual([runId]);
});

test('rejects truncated, broken and other files', async ({ t }) => {
  const whole = readFileSync(makeTar(t, 'whole.tar', 'add("a", b"x" * 100000)\nadd("b", b"y" * 100000)'));
  const zip = readFileSync(makeZip(t, 'whole.zip', 'z.writestr("a", "x" * 100000)'));
  const bad = {
    'cut.tar': whole.subarray(0, 60_000),
    'cut between two entries.tar': whole.subarray(0, 512 + 100_352),
    'cut.tar.gz': gzipSync(whole).subarray(0, 200),
    'cut.zip': zip.subarray(0, 500),
    'flipped.zip': Buffer.from(zip).fill(0x41, 200, 220),
  };
  for (const [name, content] of Object.entries(bad)) {
    writeFileSync(join(t.path, name), content);
    await expect(bring(t, join(t.path, name)), name).rejects.toMatchObject({ code: 'EARCHIVE' });
  }
  writeFileSync(join(t.path, 'text'), 'not an archive'.repeat(100));
  const text = { type: 'archive', path: join(t.path, 'text') } as const;
  await rejects(t.workspaces.check(text), 'ESOURCENOTARCHIVE');
  await rejects(t.workspaces.check({ ...text, path: t.path }), 'ESOURCENOTARCHIVE');
  await rejects(t.workspaces.check({ ...text, path: '/nowhere.tar' }), 'ESOURCEMISSING');
});

test('rejects archive bombs by their unpacked size', async () => {
  using t = temporary({ limits: { sourceBytes: 1_000_000 } });
  const bomb = makeTar(t, 'bomb.tar', 'add("zeros", b"\\\\0" * 5000000)');
  writeFileSync(`${bomb}.gz`, gzipSync(readFileSync(bomb)));
  await rejects(bring(t, `${bomb}.gz`), 'ESOURCETOOLARGE');
  const zip = makeZip(t, 'bomb.zip', 'z.writestr("zeros", "0" * 5000000, zipfile.ZIP_DEFLATED)');
  await rejects(bring(t, zip), 'ESOURCETOOLARGE');
  using large = temporary();
  const zeros = makeTar(large, 'zeros.tar', 'add("zeros", b"\\0" * 70000000)');
  writeFileSync(`${zeros}.gz`, gzipSync(readFileSync(zeros)));
  await rejects(bring(large, `${zeros}.gz`), 'EARCHIVE');
  expect(readdirSync(join(large.dataDir, 'runs'))).toEqual([]);
  using few = temporary({ limits: { entries: 10 } });
  const many = makeTar(few, 'many.tar', 'for i in range(20): add("f%d" % i, b"x")');
  await rejects(bring(few, many), 'ETOOMANYFILES');
});

test('applies include and exclude', async ({ t }) => {
  const path = makeTar(t, 'some.tar', 'add("src/a.ts", b"x")\nadd("src/a.log", b"x")\nadd("docs/x.md", b"x")');
  expect((await bring(t, path, { include: ['src'], exclude: ['*.log'] })).tree).toEqual({
    src: 'folder',
    'src/a.ts': 'file x',
  });
});
