import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { ImportFact } from '@holdpoint/code-graph/extract';
import { projectDir } from '../harness/processes.ts';
import type { Readings } from './expect-agreement.ts';
import { MissingTool } from './missing-tool.ts';
import { type FileReport, readTree } from './read-tree.ts';

/** The standard library of this machine's python3, without its tests and installed packages. */
export async function readPython(): Promise<Readings> {
  const root = run(['-c', 'import sysconfig; print(sysconfig.get_path("stdlib"), end="")']);
  const isMeant = (path: string) =>
    path.endsWith('.py') && !/(^|\/)(tests?|site-packages|dist-packages|lib2to3|config-[^/]*)\//.test(path);
  const ours = await readTree({ root, isMeant, importLine });
  const script = join(projectDir, 'tests/code-graph/python-facts.py');
  const theirs = run([script, root], JSON.stringify([...ours.reports.keys()]));
  return { ours, theirs: new Map(Object.entries(JSON.parse(theirs) as Record<string, FileReport>)) };
}

function importLine({ start, source, names, whole }: ImportFact, target: string): string {
  const listed = names.map(({ name, as }) => `${name} as ${as}`).join(', ');
  return `${start.line} ${source} ${whole === undefined ? `{${listed}}` : `as ${whole}`} → ${target}`;
}

function run(args: string[], input = ''): string {
  try {
    return execFileSync('python3', args, { encoding: 'utf8', input, maxBuffer: 256 * 1024 * 1024, timeout: 60_000 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new MissingTool('python3 is not installed');
    throw error;
  }
}
