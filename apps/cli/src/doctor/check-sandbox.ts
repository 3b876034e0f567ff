import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findBwrap, openSandbox, type Runtime, type Sandbox } from '@holdpoint/sandbox';
import { type Capabilities, capabilitiesSchema, sandboxLine } from '../output/index.ts';
import type { Config } from '../shell/index.ts';
import type { Finding } from './finding.ts';

const name = 'sandbox';

/** @param reported a running worker's report on its sandbox. The report counts more than the findings here */
export async function checkSandbox(config: Config, reported: unknown): Promise<Finding[]> {
  const known = capabilitiesSchema.safeParse(reported).data;
  let stateDir: string | undefined;
  try {
    stateDir = await mkdtemp(join(existingDirectory(config.dataDir), 'sandbox-doctor-'));
    await using sandbox = await openSandbox({
      // Any gap is for the findings to tell, not for an exception.
      policy: 'best-effort',
      allowUnsandboxed: false,
      stateDir,
      path: config.path,
      unpackedBwrap: unpackedBwrap(config),
      toolchains: config.toolchains,
    });
    return [...judgeSandbox(known ?? sandbox.capabilities), await checkRuntimes(sandbox)];
  } catch (error) {
    if (known !== undefined) return judgeSandbox(known);
    const next = error instanceof Error && 'next' in error ? String(error.next) : 'Run `npm run setup`.';
    return [{ name, level: 'fail', text: error instanceof Error ? error.message : String(error), next }];
  } finally {
    if (stateDir) await rm(stateDir, { recursive: true, force: true });
  }
}

/** `node` and `python3` in the search path of a run's commands without a version in the project, and the other available versions. */
async function checkRuntimes(sandbox: Pick<Sandbox, 'runtimes'>): Promise<Finding> {
  const isRoot = process.getuid?.() === 0;
  const ids = isRoot ? { uid: probeId, gid: probeId } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const found = await sandbox.runtimes({ id: 'doctor', ...ids });
  const text = (['node', 'python'] as const).map((language) => runtimesText(language, found)).join('; ');
  const isOwn = !found.some(({ language, isOwn }) => language === 'node' && !isOwn);
  const next = 'Install the Node of your projects, or name its folder in HOLDPOINT_TOOLCHAINS.';
  const about = { name: 'runtimes', text };
  return isOwn ? { ...about, level: 'warn', next } : { ...about, level: 'ok' };
}

/** A user without any files, as in the boot check of the sandbox. */
const probeId = 200_000;

function runtimesText(language: Runtime['language'], found: readonly Runtime[]): string {
  const known = found.filter((one) => one.language === language && !one.isOwn);
  if (known.length === 0) return language === 'node' ? "node: only Holdpoint's own" : 'no python3';
  const first = known.find(({ isFirst }) => isFirst) ?? known[0];
  const others = [...new Set(known.map(({ version }) => version))].filter((version) => version !== first?.version);
  const more = others.length === 0 ? '' : ` (and ${others.join(', ')})`;
  return `${language} ${first?.version} at ${first?.path}${more}`;
}

/** Workers try their sandbox in the data directory. Whether a sandbox can reach a directory depends on the parents. */
const existingDirectory = (dataDir: string): string =>
  existsSync(dataDir) ? dataDir : existingDirectory(dirname(dataDir));

/** Checks whether commands could change their isolating program: unless the worker is root, they run as its user. */
export function checkBubblewrap(config: Pick<Config, 'path' | 'projectDir'>): Finding[] {
  if (process.platform !== 'linux') return [];
  const found = findBwrap({ candidates: [], unpacked: unpackedBwrap(config), path: config.path });
  if (found === null) return []; // checkSandbox reports the missing program
  if (found.isRootOwned) return [{ name: 'bubblewrap', level: 'ok', text: `${found.path}, owned by root` }];
  return [
    {
      name: 'bubblewrap',
      level: 'warn',
      text: `${found.path} can be changed by its owner, the user that runs commands; it is checked before each use`,
      next: 'Install the package bubblewrap (0.8 or later): Holdpoint prefers a program owned by root, which commands cannot change.',
    },
  ];
}

const unpackedBwrap = ({ projectDir }: Pick<Config, 'projectDir'>): string => join(projectDir, '.cache/bubblewrap');

export function judgeSandbox(capabilities: Capabilities): Finding[] {
  const next = capabilities.notes.join(' ');
  if (capabilities.driver === 'none') {
    return [{ name, level: 'fail', text: 'commands run without isolation', next }];
  }
  const missing = (['fs', 'net', 'pids', 'seccomp', 'uid_drop'] as const).filter(
    (promise) => capabilities[promise] !== 'enforced',
  );
  const text = sandboxLine(capabilities);
  if (missing.length > 0) return [{ name, level: 'fail', text, next }];
  return [{ name, level: 'ok', text, next: next === '' ? undefined : next }];
}
