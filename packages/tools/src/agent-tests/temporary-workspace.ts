import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { wholeText } from '../operations/read-text.ts';
import { unifiedDiff } from '../text-work/patch.ts';

/** A changed file. `diff`: unified; null when a side is no text. */
export interface FileChange {
  path: string;
  status: 'added' | 'modified' | 'deleted';
  diff: string | null;
}

/** A directory for a test, as the source of a run or as the place of a tool. A disposal removes the directory. */
export interface TemporaryWorkspace extends AsyncDisposable {
  /** Absolute. */
  path: string;
  read(path: string): Promise<string>;
  /** Makes missing directories. */
  write(path: string, content: string | Uint8Array): Promise<void>;
  /** The differences from the original files, by path. Links and empty directories do not count. */
  changes(): Promise<FileChange[]>;
}

/** @param files content by path, relative to the workspace */
export async function temporaryWorkspace(
  files: Readonly<Record<string, string | Uint8Array>> = {},
): Promise<TemporaryWorkspace> {
  const root = await mkdtemp(join(tmpdir(), 'holdpoint-workspace-'));
  const write: TemporaryWorkspace['write'] = async (path, content) => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  };
  for (const [path, content] of Object.entries(files)) await write(path, content);
  const before = await filesOf(root);
  return {
    path: root,
    read: (path) => readFile(join(root, path), 'utf8'),
    write,
    changes: async () => changed(before, await filesOf(root)),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

type Files = ReadonlyMap<string, Buffer>;

async function filesOf(root: string): Promise<Files> {
  const found = await readdir(root, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const read = await Promise.all(
    files.map(async (path) => [path.slice(root.length + 1), await readFile(path)] as const),
  );
  return new Map(read);
}

function changed(before: Files, after: Files): FileChange[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return paths.flatMap((path) => {
    const [old, now] = [before.get(path), after.get(path)];
    if (old !== undefined && now !== undefined && old.equals(now)) return [];
    const status = old === undefined ? 'added' : now === undefined ? 'deleted' : 'modified';
    const [oldText, newText] = [old && wholeText(old), now && wholeText(now)];
    const isText = (old === undefined || oldText !== undefined) && (now === undefined || newText !== undefined);
    return [
      { path, status, diff: isText ? unifiedDiff({ path, before: oldText ?? null, after: newText ?? null }) : null },
    ];
  });
}
