import * as fs from 'node:fs';
import { join as joinPath } from 'node:path';
import { type Deps, type RunFolder, WorkspaceError, type WorkspaceRecord } from '../deps.ts';
import { type BytePath, join } from '../files/index.ts';
import { streamBlobs } from '../host-git/stream-blobs.ts';
import { plainBoolean, readPlainConfig } from '../source/git/plain-config.ts';
import { openOrigin, type Repository, readGit } from '../source/git/repository.ts';
import { createSelection, selectAll } from '../source/import-context.ts';
import { type Folder, find, isLeaf, modes } from '../store/objects/index.ts';
import { loadTree } from '../tree/index.ts';

/** All rule files of a query together, bytes. */
const mostBytes = 16 * 1024 * 1024;

export interface PathQuery {
  path: BytePath;
  isFolder: boolean;
}

/** The ignore rules of a git source, in a temporary work tree with nothing else. Removed at the end of the scope. */
interface IgnoreRules {
  /** Returns the paths ignored by git. */
  match(asked: readonly PathQuery[], signal: AbortSignal): Promise<Set<BytePath>>;
  [Symbol.dispose](): void;
}

type RuleDeps = Pick<Deps, 'git' | 'dataDir' | 'states' | 'bounds' | 'isRoot'>;

/** The rules of one snapshot in one operation. Removed at the end of the scope. */
export interface SharedRules {
  open(deps: RuleDeps, input: RuleInput): Promise<Pick<IgnoreRules, 'match'>>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface RuleInput {
  folder: RunFolder;
  record: WorkspaceRecord;
  root: Folder;
}

/**
 * A plan asks for the left out changes up to three times, against the same snapshot: the rules are read at the first question, and no path is
 * asked twice.
 */
export function shareRules(): SharedRules {
  const opened = new Map<Folder, Promise<IgnoreRules>>();
  return {
    open: (deps, input) => {
      const known = opened.get(input.root) ?? openIgnoreRules(deps, input).then(rememberAnswers);
      opened.set(input.root, known);
      return known;
    },
    [Symbol.asyncDispose]: async () => {
      for (const rules of await Promise.allSettled(opened.values()))
        if (rules.status === 'fulfilled') rules.value[Symbol.dispose]();
    },
  };
}

function rememberAnswers(rules: IgnoreRules): IgnoreRules {
  const answers = new Map<string, boolean>();
  const keyOf = ({ path, isFolder }: PathQuery): string => (isFolder ? `${path}/` : path);
  return {
    match: async (asked, signal) => {
      const unknown = asked.filter((query) => !answers.has(keyOf(query)));
      const found = unknown.length === 0 ? new Set() : await rules.match(unknown, signal);
      for (const query of unknown) answers.set(keyOf(query), found.has(query.path));
      return new Set(asked.filter((query) => answers.get(keyOf(query)) === true).map(({ path }) => path));
    },
    [Symbol.dispose]: () => rules[Symbol.dispose](),
  };
}

/**
 * The user's global excludes file is not used: a publish must not depend on the worker's user. A `.gitignore` outside of the workspace, by
 * the source's globs, is read from the base commit.
 */
async function openIgnoreRules(deps: RuleDeps, input: RuleInput): Promise<IgnoreRules> {
  const { folder, record } = input;
  const findRule = await ruleFinder(deps, input);
  const origin = await openOrigin(deps, record);
  const shared = sharedRules(origin);
  const scratch = fs.mkdtempSync(joinPath(deps.dataDir, 'git', 'tmp-rules-'));
  const [work, excludes] = [joinPath(scratch, 'work'), joinPath(scratch, 'exclude')];
  fs.mkdirSync(work);
  fs.writeFileSync(excludes, shared);
  const placed = new Set<BytePath>();
  let bytes = shared.length;
  let hasRules = /^[^#\r\n]/m.test(shared.toString('latin1'));
  let ignoreCase: boolean | undefined;
  const take = (more: number) => {
    bytes += more;
    if (bytes <= mostBytes) return;
    throw new WorkspaceError('EIGNORERULES', `The .gitignore files of the run have more than ${mostBytes} bytes.`);
  };
  const at = [`--git-dir=${folder.shadow}`, `--work-tree=${work}`, '-c', `core.excludesFile=${excludes}`];
  return {
    match: async (asked, signal) => {
      const paths = asked.map(({ path }) => path);
      const wanted = foldersOf(paths).filter((path) => !placed.has(path));
      for (const path of wanted) placed.add(path);
      const rules = wanted.flatMap((path) => findRule(path) ?? []);
      hasRules ||= rules.length > 0;
      if (!hasRules) return new Set();
      await placeRules(deps, { work, gitDir: folder.shadow, rules, take, signal });
      // Some patterns, for example `dist/`, match folders only, and git checks the work tree for them.
      for (const { path, isFolder } of asked) if (isFolder) makeFolder(work, path);
      ignoreCase ??= await isCaseIgnored(deps, origin);
      const args = [...at, '-c', `core.ignoreCase=${ignoreCase}`, 'check-ignore', '--no-index', '--stdin', '-z'];
      // Without `./`, git reads a name with a leading colon as a pathspec.
      const { stdout } = await deps.git.run(args, {
        ...{ cwd: work, accept: [0, 1], maxBytes: 256 * 1024 * 1024, signal },
        env: { GIT_LITERAL_PATHSPECS: '0' },
        input: Buffer.from(paths.map((path) => `./${path}\0`).join(''), 'latin1'),
      });
      const rows = stdout.toString('latin1').split('\0').slice(0, -1);
      return new Set(rows.map((row) => row.slice(2)));
    },
    [Symbol.dispose]: () => fs.rmSync(scratch, { recursive: true, force: true }),
  };
}

interface Rule {
  folder: BytePath;
  oid: string;
}

async function ruleFinder(
  deps: Pick<Deps, 'git' | 'states'>,
  { folder, record, root }: RuleInput,
): Promise<(path: BytePath) => Rule | undefined> {
  const selection = record.source.type === 'empty' ? selectAll : createSelection(record.source);
  const state = deps.states.of(folder);
  const treeish = `${record.base_commit}^{tree}`;
  const commit = selection === selectAll ? root : (await loadTree(deps, { folder, state, treeish })).root;
  return (path) => {
    const rules = join(path, '.gitignore');
    const entry = find(selection.has(rules) ? root : commit, rules.split('/'));
    // git does not follow a `.gitignore` link.
    return isLeaf(entry) && entry.mode !== modes.symlink ? { folder: path, oid: entry.oid } : undefined;
  };
}

/** Every folder above the paths, the top included. */
function foldersOf(paths: readonly BytePath[]): BytePath[] {
  const folders = new Set<BytePath>(['']);
  for (const path of paths) {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const above = path.slice(0, end);
      if (folders.has(above)) break;
      folders.add(above);
    }
  }
  return [...folders];
}

async function placeRules(
  deps: Pick<Deps, 'git'>,
  input: {
    work: string;
    gitDir: string;
    rules: readonly Rule[];
    take: (bytes: number) => void;
    signal: AbortSignal;
  },
): Promise<void> {
  let pieces: Buffer[] = [];
  let index = 0;
  await streamBlobs(
    deps,
    { gitDir: input.gitDir, oids: input.rules.map(({ oid }) => oid), signal: input.signal },
    {
      begin: (at, size) => {
        input.take(size);
        index = at;
        pieces = [];
      },
      piece: (bytes) => void pieces.push(Buffer.from(bytes)),
      end: () => placeRule(input.work, input.rules[index]?.folder ?? '', Buffer.concat(pieces)),
    },
  );
}

function placeRule(work: string, folder: BytePath, content: Buffer): void {
  const at = makeFolder(work, folder);
  if (at !== undefined) fs.writeFileSync(Buffer.concat([at, Buffer.from('/.gitignore')]), content);
}

/** Undefined when the path is too long; git cannot read rules there either. */
function makeFolder(work: string, folder: BytePath): Buffer | undefined {
  const at = Buffer.concat([Buffer.from(`${work}/`), Buffer.from(folder, 'latin1')]);
  // PATH_MAX, minus the name of a rule file.
  if (at.length > 4080) return undefined;
  fs.mkdirSync(at, { recursive: true });
  return at;
}

/** The `info/exclude` shared by all work trees. O_NOFOLLOW and O_NONBLOCK: a pipe would block the reader for ever. */
function sharedRules(repository: Repository | undefined): Buffer {
  if (repository === undefined) return Buffer.alloc(0);
  let fd: number;
  try {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
    fd = fs.openSync(joinPath(repository.common, 'info', 'exclude'), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return Buffer.alloc(0);
  }
  try {
    const status = fs.fstatSync(fd);
    return status.isFile() && status.size <= mostBytes ? fs.readFileSync(fd) : Buffer.alloc(0);
  } finally {
    fs.closeSync(fd);
  }
}

async function isCaseIgnored(deps: RuleDeps, repository: Repository | undefined): Promise<boolean> {
  if (repository === undefined) return false;
  const plain = plainBoolean(readPlainConfig(repository), 'core.ignorecase');
  if (plain !== undefined) return plain;
  const args = ['config', '--type=bool', '--get', 'core.ignoreCase'];
  const { code, stdout } = await readGit(deps.git, repository, args, { accept: [0, 1, 128] });
  return code === 0 && stdout.toString('latin1').trim() === 'true';
}
