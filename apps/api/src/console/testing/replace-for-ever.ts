import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Replaces the folder named by its argument as the build of the console does, until standard input ends. */
const outdir = process.argv[2] ?? '';
let ended = false;
process.stdin.resume().once('end', () => {
  ended = true;
});

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
function next(): void {
  build += 1;
  replace(build);
  if (build === 3) process.stdout.write('ready\n');
  // A fresh turn of the loop, where the end of the input is seen.
  if (!ended || build < 3) setImmediate(next);
}
next();
