import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** For each line of its input, replaces the folder named by its argument as the build of the console does, and answers with a line. */
const outdir = process.argv[2] ?? '';

function replace(build: number): void {
  const fresh = `${outdir}.building`;
  mkdirSync(join(fresh, 'assets'), { recursive: true });
  writeFileSync(join(fresh, 'index.html'), `build ${build}`);
  writeFileSync(join(fresh, `assets/part-${build}.js`), '');
  rmSync(`${outdir}.previous`, { recursive: true, force: true });
  if (existsSync(outdir)) renameSync(outdir, `${outdir}.previous`);
  renameSync(fresh, outdir);
}

let build = 0;
for await (const _line of createInterface({ input: process.stdin })) {
  build += 1;
  replace(build);
  process.stdout.write(`${build}\n`);
}
