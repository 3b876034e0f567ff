import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { test } from '../testing/fixture.ts';
import { runId, type Temporary, temporary, unmountBelow } from '../testing/index.ts';

const size = 8192;

/** Maps files and writes letters into them on commands from standard input. Answers each line when it is done. */
const program = `
import mmap, os, sys
maps = {}
for line in sys.stdin:
    verb, name, rest = (line.rstrip('\\n').split(' ') + ['', ''])[:3]
    if verb == 'map':
        f = os.open(name, os.O_RDWR)
        maps[name] = mmap.mmap(f, ${size})
        maps[name][0]
        os.close(f)
    elif verb == 'write':
        at, letter = rest.split(':')
        maps[name][int(at)] = ord(letter)
    elif verb == 'unmap':
        maps.pop(name).close()
    print('done', flush=True)
`;

class MappingWriter {
  readonly #process: ChildProcess;
  constructor(cwd: string) {
    this.#process = spawn('python3', ['-c', program], { cwd, stdio: ['pipe', 'pipe', 'inherit'] });
  }
  async tell(line: string): Promise<void> {
    const answer = once(this.#process.stdout ?? this.#process, 'data');
    this.#process.stdin?.write(`${line}\n`);
    await answer;
  }
  async end(): Promise<void> {
    const exit = once(this.#process, 'exit');
    this.#process.stdin?.end();
    await exit;
  }
}

async function start(t: Temporary) {
  const { id, path } = await t.begin({ type: 'empty' });
  return { id, path };
}

async function contentOf(t: Temporary, snapshot: string, path: string): Promise<string> {
  const { content } = await t.workspaces.read({ runId, snapshot, path });
  return Buffer.concat(await content.toArray()).toString();
}

/** Waits until the file system's clock has left the tick of the last write. */
function nextTick(directory: string): void {
  const probe = join(directory, 'probe');
  const stamp = () => {
    writeFileSync(probe, '.');
    return statSync(probe, { bigint: true }).mtimeNs;
  };
  const before = stamp();
  while (stamp() === before);
  rmSync(probe);
}

test('snapshots have what a background command writes through a mapping', async ({ t }) => {
  const { id, path } = await start(t);
  writeFileSync(join(path, 'a'), 'A'.repeat(size));
  const first = await t.workspaces.snapshot({ runId, epoch: 1, parent: id, message: '1' });
  const writer = new MappingWriter(path);
  await writer.tell('map a');
  await writer.tell('write a 0:B');
  nextTick(t.path);
  const second = await t.workspaces.snapshot({ runId, epoch: 1, parent: first.id, message: '2', isShared: true });
  expect((await contentOf(t, second.id, 'a')).slice(0, 2)).toBe('BA');
  await writer.tell('write a 1:C');
  const third = await t.workspaces.snapshot({ runId, epoch: 1, parent: second.id, message: '3', isShared: true });
  expect((await contentOf(t, third.id, 'a')).slice(0, 2)).toBe('BC');
  await writer.tell('write a 1:D');
  await writer.end();
  const last = await t.workspaces.snapshot({ runId, epoch: 1, parent: third.id, message: '4' });
  expect((await contentOf(t, last.id, 'a')).slice(0, 2)).toBe('BD');
});

const names = ['a', 'b', 'c'];
const acts = fc.array(
  fc.oneof(
    fc.record({ act: fc.constantFrom('begin' as const, 'end' as const) }),
    fc.record({
      act: fc.constant('map-write' as const),
      name: fc.constantFrom(...names),
      at: fc.constantFrom(0, 1, size - 1),
      letter: fc.constantFrom('x', 'y', 'z'),
    }),
    fc.record({
      act: fc.constant('write' as const),
      name: fc.constantFrom(...names),
      letter: fc.constantFrom('x', 'y'),
    }),
    fc.record({ act: fc.constant('snapshot' as const) }),
    fc.record({ act: fc.constant('inspect' as const) }),
    fc.record({ act: fc.constant('restore' as const) }),
    fc.record({ act: fc.constant('forget' as const) }),
  ),
  { maxLength: 14 },
);

// On a file system in memory a write through a mapping never changes the times.
const places = [tmpdir(), '/dev/shm'].filter((place) => existsSync(place));

test.each(places)('every snapshot equals the tree under random mapped writes (%s)', async (place) => {
  await fc.assert(
    fc.asyncProperty(acts, async (all) => {
      const directory = mkdtempSync(join(place, 'hp-mapped-'));
      let writer: MappingWriter | undefined;
      try {
        using t = temporary({ dataDir: join(directory, 'data') });
        const begun = await start(t);
        const { path } = begun;

        for (const name of names) writeFileSync(join(path, name), 'A'.repeat(size));
        const { id: filled } = await t.workspaces.snapshot({ runId, epoch: 1, parent: begun.id, message: '0' });
        let parent = filled;
        const epoch = 1;
        let workspaces = t.workspaces;
        for (const one of all) {
          if (one.act === 'begin' && writer === undefined) {
            writer = new MappingWriter(path);
            for (const name of names) await writer.tell(`map ${name}`);
          } else if (one.act === 'end') {
            await writer?.end();
            writer = undefined;
          } else if (one.act === 'map-write') await writer?.tell(`write ${one.name} ${one.at}:${one.letter}`);
          else if (one.act === 'write') {
            // In place, so that the mapping stays valid.
            writeFileSync(join(path, one.name), one.letter.repeat(size), { flag: 'r+' });
          } else if (one.act === 'inspect') {
            await workspaces.inspect({ runId, epoch, writer: '', snapshot: parent, isShared: writer !== undefined });
          } else if (one.act === 'restore') {
            await writer?.end();
            writer = undefined;
            await workspaces.restore({ runId, epoch, snapshot: parent });
          } else if (one.act === 'forget') workspaces = t.reopen();
          else {
            nextTick(directory);
            const isShared = writer !== undefined;
            const taken = await workspaces.snapshot({ runId, epoch, parent, message: 'x', isShared });
            parent = taken.id;
            for (const name of names) {
              expect(await contentOf(t, parent, name)).toBe(readFileSync(join(path, name), 'latin1'));
            }
          }
        }
        await writer?.end();
        writer = undefined;
        const last = await workspaces.snapshot({ runId, epoch, parent, message: 'last' });
        for (const name of names) {
          expect(await contentOf(t, last.id, name)).toBe(readFileSync(join(path, name), 'latin1'));
        }
      } finally {
        await writer?.end();
        unmountBelow(directory);
        rmSync(directory, { recursive: true, force: true });
      }
    }),
    { numRuns: 12 },
  );
});
