import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Larger files are bundles and tables, not hand-written code. */
const mostBytes = 64 * 1024;

/**
 * A tree of real code: the sources of installed packages, deflating to about a third. Each file is different, also when there are more
 * files than the packages have. @returns its bytes
 */
export function makeRealTree(path: string, files: number): number {
  const from = join(import.meta.dirname, '../node_modules');
  const found = readdirSync(from, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(js|mjs|cjs|ts|json|md|css)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => statSync(file).size <= mostBytes)
    .slice(0, files);
  let bytes = 0;
  for (let n = 0; n < files; n++) {
    const copy = Math.floor(n / found.length);
    const file = found[n % found.length] ?? '';
    const content = Buffer.concat([Buffer.from(`// ${n}\n`), readFileSync(file)]);
    const target = join(path, `part-${copy}`, file.slice(from.length + 1));
    mkdirSync(join(target, '..'), { recursive: true });
    writeFileSync(target, content);
    bytes += content.length;
  }
  return bytes;
}

/** Incompressible files, like images and archives. */
export function makeNoise(path: string, { files, bytes }: { files: number; bytes: number }): number {
  mkdirSync(path, { recursive: true });
  const noise = randomBytes(bytes);
  for (let n = 0; n < files; n++) {
    noise.writeUInt32BE(n, Math.floor(bytes / 2));
    writeFileSync(join(path, `noise-${n}.bin`), noise);
  }
  return files * bytes;
}
