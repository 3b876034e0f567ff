/**
 * The code graph of 5,000 generated files of four languages, the same files each time: its first build, the cost of a changed file, and
 * queries. A line per figure: median, 10th and 90th percentile, and the target. A missed target is marked but does not fail.
 */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openGraphs } from '@holdpoint/code-graph';
import type { Json } from '@holdpoint/contract';
import { openSandbox } from '@holdpoint/sandbox';
import { openWorkspaces } from '@holdpoint/workspace';
import { unmountBelow } from '@holdpoint/workspace/testing';

const files = Number(process.env.FILES ?? 5000);
const [edits, asks] = [20, 40];
const root = process.getuid?.() === 0;
const owner = root ? { uid: 230_000, gid: 230_000 } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const directory = mkdtempSync(join(tmpdir(), 'holdpoint-bench-'));
chmodSync(directory, 0o711);
const runId = 'run_bench';

async function measure(): Promise<void> {
  const source = join(directory, 'source');
  const bytes = makeTree(source);
  print(`${files} files, ${(bytes / 1e6).toFixed(0)} MB; load ${loadavg()[0]?.toFixed(2)} at the start`);
  const workspaces = openWorkspaces({ dataDir: join(directory, 'data'), allocateOwner: () => owner });
  await using sandbox = await openSandbox({
    ...{ policy: 'require', allowUnsandboxed: false, stateDir: join(directory, 'sandbox') },
    unpackedBwrap: join(import.meta.dirname, '../.cache/bubblewrap'),
  });
  let { id: snapshot } = await workspaces.materialise({ runId, source: { type: 'directory', path: source } });
  const { path: tree } = await workspaces.locate({ runId, epoch: 1 });
  let graphs = openGraphs({ sandbox, snapshots: workspaces });
  const ask = async (query: string, params: Record<string, Json> = {}) => {
    const started = performance.now();
    const { results } = await graphs.query({
      ...{ runId, owner, snapshot, query, params, timeout_ms: 600_000, max_bytes: 2 ** 20 },
      signal: new AbortController().signal,
    });
    return { ms: performance.now() - started, results };
  };
  const edit = async (n: number) => {
    const path = pathOf((n * 37) % files);
    writeFileSync(join(tree, path), `${textOf((n * 37) % files)}\n${path.endsWith('.py') ? '#' : '//'} ${n}\n`);
    const taken = await workspaces.snapshot({ runId, epoch: 1, parent: snapshot, message: '', paths: [path] });
    snapshot = taken.id;
  };
  const first = await ask('summary');
  print(first.results.map((row) => JSON.stringify(row)).join('\n'));
  report('first build', [first.ms]);
  report('size of the store, MB', [sizeOf(workspaces.cache(runId).path) / 1e6]);
  const updates: number[] = [];
  for (let n = 1; n <= edits; n++) {
    await edit(n);
    updates.push((await ask('outline', { path: pathOf((n * 37) % files) })).ms);
  }
  report('update after one changed file, warm worker', updates, 100);
  for (const [what, query, params] of queries) {
    const first = await ask(query, params(0));
    const times: number[] = [];
    for (let n = 1; n <= asks; n++) times.push((await ask(query, params(n))).ms);
    report(`${what} (the first: ${first.ms.toFixed(0)} ms)`, times, 20);
  }
  const cold: number[] = [];
  for (let n = 1; n <= 3; n++) {
    await graphs.close();
    graphs = openGraphs({ sandbox, snapshots: workspaces });
    await edit(edits + n);
    cold.push((await ask('outline', { path: pathOf(((edits + n) * 37) % files) })).ms);
  }
  report('update after one changed file, cold worker', cold);
  await graphs.close();
  print(`load ${loadavg()[0]?.toFixed(2)} at the end`);
}

const queries: [what: string, query: string, params: (n: number) => Record<string, Json>][] = [
  ['symbols by name', 'symbols', (n) => ({ name: `compute${n * 11}` })],
  ['symbols by glob', 'symbols', (n) => ({ name: `*ute${n * 11}` })],
  ['definition by name', 'definition', (n) => ({ name: `Shape${n * 13}` })],
  ['references', 'references', (n) => ({ name: `compute${n * 11}` })],
  ['imports of a file', 'imports', (n) => ({ path: pathOf((n * 17) % files) })],
  ['importers of a file', 'importers', (n) => ({ path: pathOf((n * 17) % files) })],
  ['outline', 'outline', (n) => ({ path: pathOf((n * 19) % files) })],
  ['files of a folder', 'files', (n) => ({ path: `src/m${n % 50}` })],
];

try {
  await measure();
} finally {
  unmountBelow(directory);
  rmSync(directory, { recursive: true, force: true });
}

function makeTree(at: string): number {
  let bytes = 0;
  for (let n = 0; n < files; n++) {
    const path = join(at, pathOf(n));
    mkdirSync(dirname(path), { recursive: true });
    const text = textOf(n);
    bytes += text.length;
    writeFileSync(path, text);
  }
  return bytes;
}

type Kind = 'ts' | 'py' | 'go' | 'java';
/** Half TypeScript, a quarter Python, the rest Go and Java. */
function kindOf(n: number): Kind {
  return n % 2 === 0 ? 'ts' : n % 4 === 1 ? 'py' : n % 8 === 3 ? 'go' : 'java';
}
function pathOf(n: number): string {
  return `src/m${n % 50}/p${n % 7}/file${n}.${kindOf(n)}`;
}

/** A file of 1 to 12 KB: its functions call the functions of an imported file. */
function textOf(n: number): string {
  const other = (n + 50 * 8 * (1 + (n % 5))) % files;
  const functions = 4 + ((n * 7919) % 40);
  const kind = kindOf(n);
  const body = Array.from({ length: functions }, (_, k) => functionOf(kind, { n, k, other }));
  switch (kind) {
    case 'ts': {
      const up = `../../m${other % 50}/p${other % 7}/file${other}.ts`;
      return `import { compute${other}, Shape${other} } from '${up}';\n\n/** A shape. */\nexport class Shape${n} extends Shape${other} {\n  area(): number {\n    return compute${other}(${n});\n  }\n}\n\n${body.join('\n')}`;
    }
    case 'py':
      return `from src.m${other % 50}.p${other % 7}.file${other} import compute${other}\n\n\nclass Shape${n}:\n    """A shape."""\n\n    def area(self):\n        return compute${other}(${n})\n\n\n${body.join('\n')}`;
    case 'go':
      return `package p${n % 7}\n\nimport "fmt"\n\ntype Shape${n} struct {\n\tSize int\n}\n\n${body.join('\n')}`;
    case 'java':
      return `package m${n % 50}.p${n % 7};\n\nimport java.util.List;\n\npublic class Shape${n} {\n${body.join('\n')}}\n`;
    default:
      return kind satisfies never;
  }
}

function functionOf(kind: Kind, { n, k, other }: { n: number; k: number; other: number }): string {
  const name = k === 0 ? `compute${n}` : `step${n}of${k}`;
  const call = k === 0 ? `compute${other}` : `compute${n}`;
  switch (kind) {
    case 'ts':
      return `export function ${name}(input: number, factor = ${k}): number {\n  const scaled = input * factor;\n  if (scaled > ${n}) return ${call}(scaled - 1);\n  return Math.max(scaled, ${k});\n}\n`;
    case 'py':
      return `def ${name}(value, factor=${k}):\n    scaled = value * factor\n    if scaled > ${n}:\n        return ${call}(scaled - 1)\n    return max(scaled, ${k})\n\n`;
    case 'go':
      return `func ${name}(input int) int {\n\tscaled := input * ${k}\n\tif scaled > ${n} {\n\t\tfmt.Println(scaled)\n\t\treturn compute${n}(scaled - 1)\n\t}\n\treturn scaled\n}\n`;
    case 'java':
      return `  public static int ${name}(int input) {\n    int scaled = input * ${k};\n    if (scaled > ${n}) {\n      return compute${n}(scaled - 1);\n    }\n    return Math.max(scaled, ${k});\n  }\n`;
    default:
      return kind satisfies never;
  }
}

function report(what: string, times: readonly number[], target?: number): void {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number) => (sorted[Math.floor((sorted.length - 1) * part)] ?? 0).toFixed(1);
  const spread = times.length === 1 ? '' : ` (p10 ${at(0.1)}, p90 ${at(0.9)})`;
  const missed = target !== undefined && Number(at(0.5)) > target ? ' MISSED' : '';
  print(
    `${what.padEnd(60)} ${at(0.5).padStart(9)}${spread}${target === undefined ? '' : `  target ${target}${missed}`}`,
  );
}

function sizeOf(path: string): number {
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
