import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { type BuildOptions, build, type Metafile } from 'esbuild';

const root = fileURLToPath(new URL('.', import.meta.url));

/** File names: of the first page, and of the parts loaded when needed. */
export interface Built {
  first: string[];
  later: string[];
}

/**
 * Builds the console into `outdir`: a finished folder replaces the old folder, so no reader finds half a build.
 * @param main the entry, relative to this folder
 */
export async function buildConsole(outdir: string, main = 'src/main.tsx'): Promise<Built> {
  fs.mkdirSync(dirname(outdir), { recursive: true });
  const fresh = fs.mkdtempSync(`${outdir}.building-`);
  try {
    const built = await buildInto(fresh, main);
    fs.writeFileSync(join(fresh, 'sources.txt'), sourcesDigest());
    fs.chmodSync(fresh, 0o755);
    takePlace(fresh, outdir);
    return built;
  } finally {
    fs.rmSync(fresh, { recursive: true, force: true });
  }
}

/** The old folder stays as `previous`: the API reads there between the two moves, and for open pages that load a part of the old build. */
function takePlace(fresh: string, outdir: string): void {
  const previous = `${outdir}.previous`;
  fs.rmSync(previous, { recursive: true, force: true });
  if (fs.existsSync(outdir)) fs.renameSync(outdir, previous);
  fs.renameSync(fresh, outdir);
}

/** Whether `outdir` was built from the present sources. */
export function isUpToDate(outdir: string): boolean {
  const mark = join(outdir, 'sources.txt');
  return fs.existsSync(mark) && fs.readFileSync(mark, 'utf8') === sourcesDigest();
}

async function buildInto(folder: string, main: string): Promise<Built> {
  fs.cpSync(join(root, 'public'), folder, { recursive: true });
  const worker = await bundle({ entryPoints: { live: 'src/live/shared-worker.ts' }, outdir: join(folder, 'assets') });
  await bundle({ entryPoints: { 'service-worker': 'src/service-worker.ts' }, outdir: folder, entryNames: '[name]' });
  const page = await bundle({
    entryPoints: { main },
    outdir: join(folder, 'assets'),
    splitting: true,
    define: { LIVE_WORKER: JSON.stringify(`/${addressOf(folder, entryOf(worker, 'src/live/shared-worker.ts'))}`) },
  });
  const first = filesOfFirstPage(page, main).map((path) => addressOf(folder, path));
  fs.writeFileSync(join(folder, 'index.html'), htmlWith(first));
  compressTexts(folder);
  const all = Object.keys(page.outputs).map((path) => addressOf(folder, path));
  return { first, later: all.filter((path) => !first.includes(path)) };
}

async function bundle(options: BuildOptions & { outdir: string }): Promise<Metafile> {
  const { metafile = noOutputs } = await build({
    absWorkingDir: root,
    bundle: true,
    format: 'esm',
    minify: true,
    metafile: true,
    jsx: 'automatic',
    target: ['chrome123', 'firefox128', 'safari17.5'],
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    legalComments: 'none',
    logLevel: 'error',
    ...options,
    define: { 'process.env.NODE_ENV': '"production"', ...options.define },
  });
  refuseServerCode(metafile);
  return metafile;
}

const noOutputs: Metafile = { inputs: {}, outputs: {} };

/**
 * The page has the types of the API's schemas, never the schemas: a validator would double the size of the page, and the server has checked
 * its answers. A page may run files of the contract that import no zod.
 */
function refuseServerCode({ inputs }: Metafile): void {
  const isServerCode = (path: string): boolean => /node_modules\/(zod|undici)\/|packages\/client\//.test(path);
  for (const [path, { imports }] of Object.entries(inputs)) {
    const found = imports.find((each) => isServerCode(each.path));
    if (found === undefined || isServerCode(path)) continue;
    throw new Error(
      `${found.path} reaches a bundle of the console by ${path}. Import its types alone: \`import type { … }\`.`,
    );
  }
}

/** A part that is loaded later is an entry point of its own. */
const entryOf = ({ outputs }: Metafile, source: string): string =>
  Object.entries(outputs).find(([path, { entryPoint }]) => entryPoint === source && path.endsWith('.js'))?.[0] ?? '';

const addressOf = (folder: string, path: string): string => relative(folder, join(root, path));

/** The entry, its static imports and its style. */
function filesOfFirstPage(page: Metafile, main: string): string[] {
  const entry = entryOf(page, main);
  const found = new Set([entry]);
  for (const path of found) {
    for (const { path: next, kind } of page.outputs[path]?.imports ?? [])
      if (kind === 'import-statement') found.add(next);
  }
  const style = page.outputs[entry]?.cssBundle;
  return [...found, ...(style === undefined ? [] : [style])];
}

function htmlWith(paths: string[]): string {
  const [entry, ...others] = paths;
  const tags = others.map((path) =>
    path.endsWith('.css')
      ? `<link rel="stylesheet" href="/${path}" />`
      : `<link rel="modulepreload" href="/${path}" />`,
  );
  const script = `<script type="module" src="/${entry}"></script>`;
  return fs.readFileSync(join(root, 'index.html'), 'utf8').replace('<!-- assets -->', [...tags, script].join('\n    '));
}

const texts = new Set(['.js', '.css', '.html', '.svg', '.webmanifest']);

function compressTexts(folder: string): void {
  for (const name of fs.globSync('**/*', { cwd: folder })) {
    if (!texts.has(extname(name))) continue;
    const content = fs.readFileSync(join(folder, name));
    fs.writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
    fs.writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content, { params }));
  }
}

function sourcesDigest(): string {
  const digest = createHash('sha256');
  const own = fs.globSync(['{src,public}/**/*.*', 'index.html', 'build.ts', 'package.json'], { cwd: root });
  const shared = fs.globSync(['../../packages/readable/src/*.ts', '../../packages/contract/src/*.ts'], { cwd: root });
  for (const name of [...own, ...shared, '../../package-lock.json'].toSorted()) {
    digest
      .update(name)
      .update('\0')
      .update(fs.readFileSync(join(root, name)));
  }
  return digest.digest('hex');
}

if (import.meta.main) {
  const outdir = join(root, 'dist');
  if (!isUpToDate(outdir)) await buildConsole(outdir);
}
