/**
 * The cost of a tree on a shared layer, against a copy: the same source again, fork, take-over, a snapshot, a restore and a discard, on
 * 1,000 and on 10,000 files, alternating with `cp -a`. A line per figure: median, 10th and 90th percentile, ratio to the floor.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openWorkspaces } from '@holdpoint/workspace';

const forms = process.getuid?.() === 0 ? (['auto', 'copy'] as const) : (['copy'] as const);
const owner = process.getuid?.() === 0 ? { uid: 230_000, gid: 230_000 } : { uid: process.getuid?.() ?? 0, gid: 0 };
const directory = mkdtempSync(join(tmpdir(), 'holdpoint-layers-'));
chmodSync(directory, 0o711);

try {
  for (const files of [1_000, 10_000]) await measure(files, files === 1_000 ? 7 : 4);
} finally {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  const points = mounts.map((line) => line.split(' ')[4] ?? '').filter((point) => point.startsWith(`${directory}/`));
  if (points.length > 0) execFileSync('umount', ['-l', '--', ...points]);
  rmSync(directory, { recursive: true, force: true });
}

async function measure(files: number, rounds: number): Promise<void> {
  const source = join(directory, `source-${files}`);
  makeTree(source, files);
  process.stdout.write(`\n${files} files, 100 of them changed; ${rounds} rounds\n`);
  const times = new Map<string, number[]>();
  const time = async <T>(name: string, act: () => T | Promise<T>): Promise<T> => {
    const begun = performance.now();
    const result = await act();
    times.set(name, [...(times.get(name) ?? []), performance.now() - begun]);
    return result;
  };
  const opened = forms.map((layers) => {
    const dataDir = join(directory, `${layers}-${files}`);
    return { layers, workspaces: openWorkspaces({ dataDir, layers, allocateOwner: () => owner }) };
  });
  for (let round = 0; round < rounds; round++) {
    const plain = join(directory, 'plain');
    await time('cp -a', () => execFileSync('cp', ['-a', source, plain]));
    await time('rm -r', () => rmSync(plain, { recursive: true }));
    for (const { layers, workspaces } of opened) {
      const [runId, fork] = [`run_${round}`, `fork_${round}`];
      const name = (what: string) => `${layers}: ${what}`;
      const first = round === 0 ? 'materialise, the first time' : 'materialise, the same source again';
      const { id: base } = await time(name(first), () =>
        workspaces.materialise({ runId, source: { type: 'directory', path: source } }),
      );
      const { path } = await workspaces.locate({ runId, epoch: 1 });
      for (let index = 0; index < 100; index++) writeFileSync(join(path, fileName(index * 7)), `round ${round}\n`);
      const { id } = await time(name('snapshot'), () =>
        workspaces.snapshot({ runId, epoch: 1, parent: base, message: '' }),
      );
      await time(name('fork'), () => workspaces.fork({ runId: fork, from: { runId, snapshot: id } }));
      await time(name('take-over'), () => workspaces.takeOver({ runId, epoch: 2, snapshot: id }));
      await time(name('restore'), () => workspaces.restore({ runId, epoch: 2, snapshot: base }));
      await time(name('discard'), () => workspaces.discard(fork));
      await workspaces.discard(runId);
    }
  }
  const floor = quantile(times.get('cp -a') ?? [], 0.5);
  for (const [name, all] of times) {
    const [median = 0, low = 0, high = 0] = [0.5, 0.1, 0.9].map((at) => quantile(all, at));
    const ratio = `${(median / floor).toFixed(2)} × cp -a`;
    process.stdout.write(
      `${name.padEnd(44)} ${median.toFixed(0)} ms (${low.toFixed(0)}–${high.toFixed(0)})  ${ratio}\n`,
    );
  }
}

function quantile(all: readonly number[], at: number): number {
  const sorted = all.toSorted((a, b) => a - b);
  return sorted[Math.round(at * (sorted.length - 1))] ?? 0;
}

function fileName(index: number): string {
  return `folder-${Math.floor(index / 12)}/module-${index}.ts`;
}

/** Files of about 7 KB, deflating 3:1 as code does. */
function makeTree(root: string, files: number): void {
  for (let index = 0; index < files; index++) {
    const path = join(root, fileName(index));
    mkdirSync(dirname(path), { recursive: true });
    const lines = Array.from(
      { length: 110 },
      (_, line) => `export const v${(index * 7919 + line * 104729) % 1e6} = ${line};`,
    );
    writeFileSync(path, lines.map((line) => `${line} // ${Math.random().toString(36).slice(2)}`).join('\n'));
  }
}
