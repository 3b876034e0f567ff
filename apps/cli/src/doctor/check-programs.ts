import { constants, readFileSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { findBrowser } from '@holdpoint/documents';
import { findToolchains } from '@holdpoint/sandbox';
import { execa } from 'execa';
import type { Config } from '../shell/index.ts';
import type { Finding } from './finding.ts';

export const checkPrograms = async (config: Config): Promise<Finding[]> =>
  Promise.all([checkGit(config), checkPython(config), checkRipgrep(), checkToolchains(config), checkBrowser(config)]);

async function checkGit({ path }: Config): Promise<Finding> {
  const version = await versionOf('git', path);
  if (version !== undefined) return { name: 'git', level: 'ok', text: version };
  return { name: 'git', level: 'fail', text: 'not found; workspaces need it', next: 'Install the package git.' };
}

async function checkPython({ path }: Config): Promise<Finding> {
  const version = await versionOf('python3', path);
  if (version !== undefined) return { name: 'python3', level: 'ok', text: version };
  const next = 'Install the package python3 if runs need it.';
  return { name: 'python3', level: 'warn', text: 'not found; commands that run Python will fail', next };
}

async function versionOf(program: string, path: string): Promise<string | undefined> {
  const { failed, stdout } = await execa(program, ['--version'], {
    reject: false,
    timeout: 10_000,
    env: { PATH: path },
    extendEnv: false,
    stdin: 'ignore',
  });
  return failed ? undefined : stdout.split('\n')[0];
}

/** The tools run this binary inside the sandbox. */
async function checkRipgrep(): Promise<Finding> {
  try {
    const from = createRequire(import.meta.resolve('@holdpoint/sandbox'));
    const { rgPath }: { rgPath: string } = from('@vscode/ripgrep');
    await access(rgPath, constants.X_OK);
    return { name: 'ripgrep', level: 'ok', text: rgPath };
  } catch (error) {
    const text = `not usable: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`;
    return { name: 'ripgrep', level: 'fail', text, next: 'Run `npm run setup`.' };
  }
}

/** Workers look in the same places, with their own environment. A machine without a browser lacks a single tool. */
export function checkBrowser({
  path,
  projectDir,
  environment,
}: Pick<Config, 'path' | 'projectDir' | 'environment'>): Finding {
  const name = 'browser';
  const { HOLDPOINT_CHROMIUM: named } = environment;
  const found = findBrowser({ named, path, projectDir });
  if (found !== undefined) return { name, level: 'ok', text: `${found.path}, for the tool screenshot` };
  const why = named === undefined ? 'no Chromium on PATH' : `HOLDPOINT_CHROMIUM is ${named}`;
  const next = 'to have it, install the package chromium, or name one with HOLDPOINT_CHROMIUM';
  return { name, level: 'ok', text: `${why}: runs are offered no tool screenshot; ${next}` };
}

/** Sandboxes do not see programs in a home directory. */
export function checkToolchains({
  path,
  projectDir,
  toolchains: mounted,
}: Pick<Config, 'path' | 'projectDir' | 'toolchains'>): Finding {
  const name = 'toolchains';
  const hidden = findToolchains(path, { project: projectDir, mounted });
  if (hidden.length === 0) return { name, level: 'ok', text: 'sandboxes see all programs on PATH' };
  const found = hidden.map(({ directory, programs }) => `${programs.join(', ')} (${directory})`).join('; ');
  const next = `If runs need them: HOLDPOINT_TOOLCHAINS=${[...mounted, ...hidden.flatMap(({ show }) => show)].join(':')}`;
  return { name, level: 'warn', text: `sandboxes do not see ${found}`, next };
}

/** The set-up reads the minimum in the same place. */
export function checkNode({ projectDir }: Pick<Config, 'projectDir'>, version: string): Finding {
  const project = JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8')) as {
    config: { minimumNode: string };
  };
  const { minimumNode } = project.config;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = minimumNode.split('.').map(Number);
  const enough = major > leastMajor || (major === leastMajor && minor >= leastMinor);
  if (enough) return { name: 'node', level: 'ok', text: version };
  return {
    name: 'node',
    level: 'fail',
    text: `${version}; ${minimumNode} or newer is needed`,
    next: 'Run it through npm (npm start): the set-up installs a Node for this project.',
  };
}
