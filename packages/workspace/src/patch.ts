import { isUtf8 } from 'node:buffer';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Deps } from './deps.ts';
import { writeDurably } from './files/write-durably.ts';
import { diffTree } from './host-git/diff-tree.ts';
import type { SnapshotId } from './port.ts';
import { runFolder } from './run/run-folder.ts';
import { requireRecord } from './run/workspace-record.ts';

/**
 * A patch that `git apply` accepts. It is a string, so a file whose lines are not UTF-8 is given as a binary patch, which is plain
 * ASCII and exact, instead of text that decoding would spoil.
 */
export async function patchSnapshots(
  deps: Deps,
  input: { runId: string; from: SnapshotId; to: SnapshotId; path?: string },
): Promise<string> {
  const folder = runFolder(deps.dataDir, input.runId);
  requireRecord(folder);
  const options = { flags: ['--binary'], maxBytes: deps.limits.diffBytes };
  const files = await diffTree(deps, { ...input, folder }, options);
  if (files.every((file) => file.sections.every((section) => isUtf8(section)))) {
    return Buffer.concat(files.flatMap((file) => file.sections)).toString('utf8');
  }
  const binary = await diffTree(deps, { ...input, folder }, { ...options, attributesFrom: await binaryView(deps) });
  const sections = files.flatMap((file, index) => {
    return file.sections.every((section) => isUtf8(section)) ? file.sections : (binary[index]?.sections ?? []);
  });
  return Buffer.concat(sections).toString('utf8');
}

/**
 * A repository without objects whose attributes call every file binary. Lent the objects of a run, it makes git write binary
 * patches; `core.bigFileThreshold=1` does not, because `--binary` reads the files before it looks at their size.
 */
async function binaryView(deps: Deps): Promise<string> {
  const path = join(deps.dataDir, 'git', 'as-binary.git');
  const attributes = join(path, 'info', 'attributes');
  if (existsSync(attributes)) return path;
  await deps.git.run(['init', '-q', '--bare', '--template=', '--initial-branch=none', '--object-format=sha1', path]);
  mkdirSync(dirname(attributes), { recursive: true });
  await writeDurably(attributes, '* -diff\n', 0o644);
  return path;
}
