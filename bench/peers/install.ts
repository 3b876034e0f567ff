import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const cacheDir = fileURLToPath(new URL('../../.cache/peers', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));

/** Installs the packages of `package-lock.json` in this folder into `.cache/peers`. Their scripts do not run. */
export async function installPackages(): Promise<void> {
  const lock = (directory: string): string => readFileSync(join(directory, 'package-lock.json'), 'utf8');
  if (existsSync(join(cacheDir, 'installed.json')) && lock(cacheDir) === lock(here)) return;
  rmSync(cacheDir, { recursive: true, force: true });
  mkdirSync(cacheDir, { recursive: true });
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(here, name), join(cacheDir, name));
  await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: cacheDir });
  copyFileSync(join(here, 'package.json'), join(cacheDir, 'installed.json'));
}

/** A package of `.cache/peers`. Its types are missing in this project's type check, so the caller types the used parts. */
export const loadPackage = createRequire(join(cacheDir, 'package.json')) as <Module>(name: string) => Module;
