import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FileEvent } from 'vscode-languageserver-protocol';

/** `FileChangeType` of LSP. */
const changeType = { created: 1, changed: 2, deleted: 3 } as const;

/** Folders of libraries and of results: their changes come by the thousand, and servers look at them by themselves. */
const passedOver = new Set(['node_modules', '.git', 'target', 'dist', 'build', '.venv', 'venv', '__pycache__']);
/** A larger tree is watched in part: a look at this many files takes 0.2 s. */
const maxFiles = 20_000;

/** Finds the changed files of a tree, by size and times: other programs write to the tree, and servers rely on their client for news. */
export class TreeChanges {
  readonly #root: string;
  readonly #names: readonly string[];
  #known: Map<string, string>;

  /** @param names endings with a dot, or whole names of files */
  constructor(root: string, names: readonly string[]) {
    this.#root = root;
    this.#names = names;
    this.#known = this.#look();
  }

  /** The files of the last look, absolute. */
  get files(): string[] {
    return [...this.#known.keys()];
  }

  sinceLastLook(): FileEvent[] {
    const before = this.#known;
    const now = this.#look();
    this.#known = now;
    const events: FileEvent[] = [];
    const add = (path: string, type: FileEvent['type']) => events.push({ uri: pathToFileURL(path).href, type });
    for (const [path, state] of now) {
      const then = before.get(path);
      if (then === undefined) add(path, changeType.created);
      else if (then !== state) add(path, changeType.changed);
    }
    for (const path of before.keys()) if (!now.has(path)) add(path, changeType.deleted);
    return events;
  }

  #look(): Map<string, string> {
    const found = new Map<string, string>();
    const folders = [this.#root];
    for (let folder = folders.pop(); folder !== undefined && found.size < maxFiles; folder = folders.pop()) {
      for (const entry of entriesOf(folder)) {
        const path = join(folder, entry.name);
        if (entry.isDirectory() && !passedOver.has(entry.name)) folders.push(path);
        else if (entry.isFile() && this.#names.some((name) => isNamed(entry.name, name)))
          found.set(path, stateOf(path));
      }
    }
    return found;
  }
}

const isNamed = (name: string, watched: string): boolean =>
  watched.startsWith('.') ? name.endsWith(watched) : name === watched;

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function stateOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`;
}
