/**
 * The wait of an edit for its type errors, in a generated TypeScript project: without a server, at the first edit with one, and at the next ones;
 * beside `tsc --noEmit` over the project in the same sandbox, which an agent would run otherwise.
 *
 * npm run bench -- language-servers [--files 3000] [--rounds 20]
 */
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { openLanguageServers } from '@holdpoint/language-servers';
import { openSandbox, type Sandbox } from '@holdpoint/sandbox';
import { judged, median, say, spread } from './figures.ts';

const options = { files: { type: 'string', default: '3000' }, rounds: { type: 'string', default: '20' } } as const;
const { values } = parseArgs({ args: process.argv.slice(3), options });
const [files, rounds] = [Number(values.files), Number(values.rounds)];
const isRoot = process.getuid?.() === 0;
const owner = isRoot ? { uid: 230_000, gid: 230_000 } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const directory = mkdtempSync(join(tmpdir(), 'holdpoint-bench-'));
chmodSync(directory, 0o711);
/** Milliseconds of a lookup that finds no server, and the part of a compilation that a later edit may wait for. */
const [mostLookupMs, mostShare] = [5, 0.25];

const textOf = (n: number, type = 'number'): string => {
  const imports = [1, 7, 31].map(
    (step) => `import { value${(n + step) % files} } from './file${(n + step) % files}.ts';`,
  );
  return `${imports.join('\n')}\n\nexport const value${n}: ${type} = ${n};\nexport const sum${n} = value${(n + 1) % files} + value${n};\n`;
};

/** @returns a tree of a run */
function makeTree(name: string, { isInstalled }: { isInstalled: boolean }) {
  const path = join(directory, name);
  mkdirSync(join(path, 'src'), { recursive: true });
  for (let n = 0; n < files; n++) writeFileSync(join(path, 'src', `file${n}.ts`), textOf(n));
  const compilerOptions = {
    module: 'nodenext',
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    types: [],
  };
  writeFileSync(join(path, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
  writeFileSync(join(path, 'package.json'), '{"type":"module"}');
  const require = createRequire(import.meta.url);
  for (const one of isInstalled ? ['typescript', `@typescript/typescript-${process.platform}-${process.arch}`] : []) {
    const from = dirname(require.resolve(`${one}/package.json`));
    cpSync(from, join(path, 'node_modules', one), { recursive: true, dereference: true });
  }
  chownSync(path, owner.uid, owner.gid);
  return { id: `run_${name}`, path, ...owner };
}

type Mount = ReturnType<typeof makeTree>;

async function measure(sandbox: Sandbox): Promise<void> {
  const servers = openLanguageServers({ sandbox });
  /** Changes a file as a tool does, and asks for its errors. @returns milliseconds */
  const edit = async (mount: Mount, n: number, isWrong: boolean): Promise<number> => {
    const [before, after] = [textOf(n), textOf(n, isWrong ? 'string' : 'number | undefined')];
    writeFileSync(join(mount.path, 'src', `file${n}.ts`), after);
    const change = { path: `src/file${n}.ts`, before, after };
    const from = performance.now();
    const found = await servers.diagnose({
      ...{ mount, files: sandbox.files(mount), changes: [change], wait_ms: 120_000 },
    });
    const ms = performance.now() - from;
    if (mount.id === 'run_with' && found.length === 0) throw new Error('no error was found');
    writeFileSync(join(mount.path, 'src', `file${n}.ts`), before);
    return ms;
  };
  const compile = async (mount: Mount): Promise<number> => {
    const from = performance.now();
    const argv = [
      `/workspace/node_modules/@typescript/typescript-${process.platform}-${process.arch}/lib/tsc`,
    ] as const;
    const { end } = await sandbox.run({
      workspace: mount,
      argv: [...argv, '-p', '.'],
      signal: AbortSignal.timeout(120_000),
    });
    if (end.status !== 'exited' || end.exit_code !== 0) throw new Error(`tsc: ${JSON.stringify(end)}`);
    return performance.now() - from;
  };
  const [without, with_] = [makeTree('without', { isInstalled: false }), makeTree('with', { isInstalled: true })];
  await edit(without, 0, true);
  const first = await edit(with_, 0, true);
  const times = { lookups: [] as number[], edits: [] as number[], compiles: [] as number[] };
  for (let round = 1; round <= rounds; round++) {
    const n = (round * 37) % files;
    times.lookups.push(await edit(without, n, true));
    times.edits.push(await edit(with_, n, true));
    times.compiles.push(await compile(with_));
  }
  say(`${files} files`);
  say(`an edit without a server, ms: ${judged(times.lookups, { atMost: mostLookupMs })}`);
  say(`the first edit with a server: ${first.toFixed(0)} ms, × ${(first / median(times.compiles)).toFixed(2)} of tsc`);
  say(`tsc --noEmit in the sandbox, ms: ${spread(times.compiles, 0)}`);
  say(`later edits, ms: ${spread(times.edits, 0)}`);
  const shares = times.edits.map((ms, at) => ms / (times.compiles[at] ?? Number.NaN));
  say(`later edits, part of tsc: ${judged(shares, { atMost: mostShare })}`);
  await servers.close();
}

try {
  await using sandbox = await openSandbox({
    ...{ policy: 'require', allowUnsandboxed: false, stateDir: join(directory, 'sandbox') },
    unpackedBwrap: join(import.meta.dirname, '../.cache/bubblewrap'),
  });
  await measure(sandbox);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
