import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';

const projectDir = resolve(fileURLToPath(new URL('.', import.meta.url)), '../..');
const bundles = join(projectDir, '.cache/programs');
const programs = [
  ['api', 'apps/api/src/main.ts'],
  ['worker', 'apps/worker/src/main.ts'],
  ['cli', 'apps/cli/src/main.ts'],
  ['die-at-point', 'packages/workspace/src/testing/die-at-point.ts'],
] as const;

/** Builds the programs, once for each state of the sources. Test processes find them through HOLDPOINT_TEST_PROGRAMS. */
export async function setup(): Promise<void> {
  const directory = join(bundles, sourceDigest());
  if (!(await exists(directory))) await build(directory);
  process.env.HOLDPOINT_TEST_PROGRAMS = directory;
}

async function build(directory: string): Promise<void> {
  await mkdir(bundles, { recursive: true });
  const old = await readdir(bundles);
  const unfinished = await mkdtemp(join(bundles, 'building-'));
  for (const [name, path] of programs) {
    // A build each: in a build of several, a program may import the main module of another for their common part.
    const bundle = await rolldown({
      ...{
        input: { [name]: join(projectDir, path) },
        platform: 'node',
        plugins: [ownPlace, bundledParts(directory)],
        external: /\.node$/,
      },
      logLevel: 'silent',
    });
    // Several classes have the same name, and a log line or a test may contain the name.
    await bundle.write({ dir: join(unfinished, name), format: 'esm', keepNames: true });
    await bundle.close();
  }
  // Two runs may build the same state: the second run to finish uses the bundle of the first.
  await rename(unfinished, directory).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    await rm(unfinished, { recursive: true });
  });
  await Promise.all(old.map((name) => removeOld(join(bundles, name))));
}

/** Scripts, threads and programs found by a module next to its own file keep their place: the bundle names the place of the source. */
const ownPlace: Plugin = {
  name: 'own-place',
  transform: {
    filter: { code: /import\.meta\.(url|dirname|filename)\b|\b__(dirname|filename)\b/ },
    handler(code, id) {
      const places = { url: pathToFileURL(id).href, dirname: dirname(id), filename: id };
      const literal = (name: string) => JSON.stringify(places[name as keyof typeof places]);
      const named = code.replaceAll(/\bimport\.meta\.(url|dirname|filename)\b/g, (_, name) => literal(name));
      // Modules of the ECMAScript form may declare constants of these names.
      if (/\b(const|let|var)\s+__(dirname|filename)\b/.test(named)) return named;
      return named.replaceAll(/\b__(dirname|filename)\b/g, (_, name) => literal(name));
    },
  },
};

/** `up` starts the bundles of the API and of the worker: each start from sources took a second of CPU time more. */
const bundledParts = (directory: string): Plugin => ({
  name: 'bundled-parts',
  load: {
    filter: { id: /apps\/cli\/src\/system\/part-script\.ts$/ },
    handler: () =>
      `export const partScript = (_, app) => ${JSON.stringify(directory)} + '/' + app + '/' + app + '.js';`,
  },
});

function sourceDigest(): string {
  const digest = createHash('sha256').update(process.version);
  const files = globSync(
    [
      'package-lock.json',
      'tests/harness/bundle-programs.ts',
      '{apps/{api,cli,worker},packages/*}/{package.json,src/**/*.{ts,mjs,json}}',
    ],
    {
      cwd: projectDir,
      exclude: (path) => path.endsWith('.test.ts') || path.endsWith('node_modules'),
    },
  );
  for (const file of files.toSorted())
    digest
      .update(file)
      .update('\0')
      .update(readFileSync(join(projectDir, file)));
  return digest.digest('hex').slice(0, 16);
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Another run of tests may still use a bundle of the last hours. */
async function removeOld(directory: string): Promise<void> {
  const found = await stat(directory).catch(() => undefined);
  if (found !== undefined && Date.now() - found.mtimeMs > 6 * 3_600_000)
    await rm(directory, { recursive: true, force: true });
}
