import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporary } from '../testing/index.ts';
import { gitBytes, initRepository } from '../testing/real-git.ts';
import { findDamaged } from './find-damaged.ts';
import { createGit } from './git.ts';
import { withObjectReader } from './object-reader.ts';
import { blobSizes, readRows, streamBlobs } from './stream-blobs.ts';
import { sizedTreeRows, treeRows } from './tree-rows.ts';

type Reading = { git: ReturnType<typeof createGit> };

function repository(path: string) {
  const top = join(path, 'repository');
  mkdirSync(top);
  initRepository(top);
  const store = (content: string, type = 'blob'): string =>
    gitBytes(top, ['hash-object', '-w', '--literally', '-t', type, '--stdin'], Buffer.from(content, 'latin1'))
      .toString()
      .trim();
  return { gitDir: join(top, '.git'), store };
}

async function contents(deps: Reading, gitDir: string, oids: readonly string[], signal?: AbortSignal) {
  const found: string[] = [];
  await streamBlobs(
    deps,
    { gitDir, oids, ...(signal && { signal }) },
    {
      begin: () => void found.push(''),
      piece: (bytes) => found.push(`${found.pop()}${bytes.toString('latin1')}`),
      end: () => {},
    },
  );
  return found;
}

/** A git that counts its starts. */
function counting() {
  const real = createGit({});
  let starts = 0;
  const stream: typeof real.stream = (...args) => {
    starts += 1;
    return real.stream(...args);
  };
  return { git: { ...real, stream }, starts: () => starts };
}

test('one program answers all reads, with objects written after its start', async () => {
  using place = temporary();
  const { gitDir, store } = repository(place.path);
  const { git, starts } = counting();
  await withObjectReader({ git }, async (deps) => {
    for (const content of ['', 'a', '\n', 'x'.repeat(3_000_000), 'a missing\n', '\0\xff']) {
      const oids = [store(content), store(`${content}!`), store(content)];
      expect(await contents(deps, gitDir, oids)).toEqual([content, `${content}!`, content]);
    }
  });
  expect(starts()).toBe(1);
});

test('reads at the same time do not mix, nor do reads that end early', async () => {
  using place = temporary();
  const { gitDir, store } = repository(place.path);
  const texts = Array.from({ length: 40 }, (_, at) => `${at} `.repeat(5000));
  const oids = texts.map((text) => store(text));
  const { git, starts } = counting();
  await withObjectReader({ git }, async (deps) => {
    const broken = (at: number) =>
      streamBlobs(
        deps,
        { gitDir, oids },
        {
          begin: (index) => {
            if (index === at) throw new Error('stop');
          },
          piece: () => {},
          end: () => {},
        },
      );
    for (let round = 0; round < 5; round++) {
      const [all, some, stopped] = await Promise.allSettled([
        contents(deps, gitDir, oids),
        contents(deps, gitDir, oids.slice(round)),
        broken(round * 9),
      ]);
      expect(all).toEqual({ status: 'fulfilled', value: texts });
      expect(some).toEqual({ status: 'fulfilled', value: texts.slice(round) });
      expect(stopped.status).toBe('rejected');
    }
  });
  expect(starts()).toBeGreaterThan(5);
});

test('a read that ends after its operation failed leaves no program', async () => {
  using place = temporary();
  const { gitDir, store } = repository(place.path);
  const oids = [store('one'), store('two')];
  const real = createGit({});
  const programs: Promise<unknown>[] = [];
  const stream: typeof real.stream = (...args) => {
    const started = real.stream(...args);
    programs.push(started.done.catch(() => {}));
    return started;
  };
  const gate = Promise.withResolvers<void>();
  let late: Promise<void> | undefined;
  const operation = withObjectReader({ git: { ...real, stream } }, (deps) => {
    const receiver = { begin: () => {}, piece: () => {}, end: () => gate.promise };
    late = streamBlobs(deps, { gitDir, oids }, receiver);
    return Promise.reject(new Error('failed beside it'));
  });
  await expect(operation).rejects.toThrow('failed beside it');
  gate.resolve();
  await late;
  expect(programs).toHaveLength(1);
  await Promise.all(programs);
});

test('a lost, a damaged and an aborted object fail alone: the next read is answered', async () => {
  using place = temporary();
  const { gitDir, store } = repository(place.path);
  const [good, bad] = [store('good'), store('bad '.repeat(10_000))];
  const path = join(gitDir, 'objects', bad.slice(0, 2), bad.slice(2));
  const bytes = readFileSync(path);
  await withObjectReader({ git: createGit({}) }, async (deps) => {
    const lost = 'ab'.repeat(20);
    await expect(contents(deps, gitDir, [good, lost, good])).rejects.toMatchObject({ code: 'EWORKSPACECORRUPT' });
    expect(await contents(deps, gitDir, [good])).toEqual(['good']);
    rmSync(path);
    writeFileSync(
      path,
      bytes.map((byte, at) => (at > bytes.length / 2 ? byte ^ 0x55 : byte)),
    );
    await expect(contents(deps, gitDir, [good, bad])).rejects.toMatchObject({ code: 'EGITFAILED' });
    expect(await contents(deps, gitDir, [good])).toEqual(['good']);
    const aborted = AbortSignal.abort(new Error('enough'));
    await expect(contents(deps, gitDir, [good], aborted)).rejects.toThrow('enough');
    expect(await contents(deps, gitDir, [good])).toEqual(['good']);
  });
});

test('with git before 2.36, contents and sizes come from a program each', async () => {
  using place = temporary();
  const { gitDir, store } = repository(place.path);
  const old = join(place.path, 'git');
  const refuse = 'case "$*" in *--batch-command*) echo "error: unknown option \\`batch-command\'" >&2; exit 129;; esac';
  writeFileSync(old, `#!/bin/bash\n${refuse}\nPATH=\${PATH#*:} exec git "$@"\n`, { mode: 0o755 });
  const real = createGit({ gitPath: old });
  const started: string[] = [];
  const stream: typeof real.stream = (args, options) => {
    started.push(args.at(-1) ?? '');
    return real.stream(args, options);
  };
  const oids = [store('one'), store('three'), store('')];
  const read = (deps: Reading) =>
    Promise.all([contents(deps, gitDir, oids), blobSizes(deps, { gitDir, oids: [...oids, ...oids] })]);
  const sizes = new Map(oids.map((oid, at) => [oid, [3, 5, 0][at] ?? 0]));
  const git = { ...real, stream };
  for (let round = 0; round < 2; round++)
    await withObjectReader({ git }, async (deps) => {
      expect(await read(deps)).toEqual([['one', 'three', ''], sizes]);
      expect(await read(deps)).toEqual([['one', 'three', ''], sizes]);
    });
  expect(started.slice(0, 2)).toEqual(['--buffer', '--buffer']);
  expect(started.slice(2).toSorted()).toEqual(['--batch', '--batch', '--batch-check', '--batch-check']);
});

test('reads the size of each object, and names the lost ones', async () => {
  using place = temporary();
  const { gitDir, store } = repository(place.path);
  const { git, starts } = counting();
  const oids = Array.from({ length: 60 }, (_, at) => store(`${at} `.repeat(at % 7)));
  const lost = 'ab'.repeat(20);
  await withObjectReader({ git }, async (deps) => {
    const expected = await blobSizes({ git: createGit({}) }, { gitDir, oids });
    expect(await blobSizes(deps, { gitDir, oids })).toEqual(expected);
    expect(await findDamaged(deps, { gitDir, oids: [...oids, lost] })).toEqual(new Set([lost]));
    await expect(blobSizes(deps, { gitDir, oids: [lost] })).rejects.toMatchObject({ code: 'EWORKSPACECORRUPT' });
  });
  expect(starts()).toBe(1);
});

test('lists trees as git ls-tree does', async () => {
  using place = temporary();
  const { gitDir, store } = repository(place.path);
  let state = 5;
  const random = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return (state >> 8) % below;
  };
  const raw = (oid: string): string => Buffer.from(oid, 'hex').toString('latin1');
  const [blob, other] = [store('one'), store('two')];
  const names = ['a', 'a.b', 'A', '.git', 'é', '\xff\xfe', 'new\nline', 'tab\there', '"', '..', 'x'.repeat(255)];
  const modes = [
    '100644',
    '100755',
    '120000',
    '160000',
    '100664',
    '100700',
    '100010',
    '0100644',
    '777',
    '140000',
    '040000',
    '40000',
  ];
  const grow = (depth: number): string => {
    const rows = names
      .filter(() => random(5) < 2)
      .map((name) => {
        const mode = modes[random(depth > 0 ? modes.length : modes.length - 2)] ?? '';
        const oid = mode.endsWith('40000') ? grow(depth - 1) : mode === '160000' || random(2) === 0 ? blob : other;
        return `${mode} ${name}\0${raw(oid)}`;
      });
    return store(rows.join(''), 'tree');
  };
  const rowsIn = async (rows: AsyncIterable<string[]>) => (await Array.fromAsync(rows)).flat();
  const real = createGit({});
  let listed = 0;
  await withObjectReader({ git: real }, async (deps) => {
    const { objects } = deps.git;
    if (objects === undefined) throw new Error('no reader');
    for (let round = 0; round < 30; round++) {
      const treeish = grow(3);
      const args = [`--git-dir=${gitDir}`, 'ls-tree', '-r', '-t', '-z', '--full-tree', treeish];
      const expected = await rowsIn(readRows(real, args));
      expect(await rowsIn(treeRows(objects, { gitDir, treeish }))).toEqual(expected);
      const sized = await rowsIn(readRows(real, [...args.slice(0, -1), '-l', treeish]));
      const padded = /^(\d+ \w+ \w+) +/;
      expect(await sizedTreeRows(objects, { gitDir, treeish, most: 100_000 })).toEqual(
        sized.map((row) => row.replace(padded, '$1 ')),
      );
      if (expected.length > 0) {
        const most = expected.length - 1;
        await expect(rowsIn(treeRows(objects, { gitDir, treeish, most }))).rejects.toMatchObject({
          code: 'ETOOMANYFILES',
        });
      }
      listed += expected.length;
    }
  });
  expect(listed).toBeGreaterThan(100);
});

test('a tree that lists itself a billion times, a lost, a malformed and an endlessly deep tree are refused', async () => {
  using place = temporary();
  const { gitDir, store } = repository(place.path);
  const raw = (oid: string): string => Buffer.from(oid, 'hex').toString('latin1');
  const folder = (names: readonly string[], oid: string) =>
    store(names.map((name) => `40000 ${name}\0${raw(oid)}`).join(''), 'tree');
  let bomb = store(`100644 f\0${raw(store('f'))}`, 'tree');
  for (let level = 0; level < 9; level++) bomb = folder([...'0123456789'], bomb);
  let deep = store('', 'tree');
  for (let level = 0; level < 20; level++) deep = folder(['x'.repeat(4000)], deep);
  const cases = [
    [bomb, 'ETOOMANYFILES'],
    [deep, 'ESOURCEPATHS'],
    [folder(['lost'], 'ab'.repeat(20)), 'EWORKSPACECORRUPT'],
    [store(`100644 f\0${'x'.repeat(19)}`, 'tree'), 'EWORKSPACECORRUPT'],
    [store(`100648 f\0${'x'.repeat(20)}`, 'tree'), 'EWORKSPACECORRUPT'],
    [store('a blob'), 'EWORKSPACECORRUPT'],
  ] as const;
  await withObjectReader({ git: createGit({}) }, async ({ git: { objects } }) => {
    if (objects === undefined) throw new Error('no reader');
    for (const [treeish, code] of cases) {
      const listing = Array.fromAsync(treeRows(objects, { gitDir, treeish, most: 100_000 }));
      await expect(listing, treeish).rejects.toMatchObject({ code });
      const sized = sizedTreeRows(objects, { gitDir, treeish, most: 100_000 });
      await expect(sized, treeish).rejects.toMatchObject({ code });
    }
  });
});
