import { WorkspaceError } from '../errors.ts';
import { createYielder } from '../files/index.ts';
import { bigFileFlags, type Git, type GitStream, type ObjectQuery, type ObjectReader } from './git.ts';

/**
 * Keeps a `git cat-file` open for the reads of an operation: starting git takes 18 ms from a large process, and a plan of a publish reads
 * objects up to nine times. The program ends with the operation, so every operation reads the repository as it is then.
 */
export async function withObjectReader<D extends { readonly git: Git }, Result>(
  deps: D,
  act: (deps: D) => Promise<Result>,
): Promise<Result> {
  if (deps.git.objects !== undefined) return await act(deps);
  await using objects = openObjectReader(deps.git);
  return await act({ ...deps, git: { ...deps.git, objects } });
}

interface Program extends Pick<GitStream, 'stdin' | 'done' | 'kill'> {
  pieces: AsyncIterator<Uint8Array>;
  /** The lines that ask for some names. */
  ask(query: ObjectQuery): string;
}

type Kind = 'command' | 'contents' | 'info';

function openObjectReader(git: Git): ObjectReader & AsyncDisposable {
  /** Idle programs, by repository and kind. A program in use is not in the list, so two answers never mix. */
  const idle = new Map<string, Program>();
  let isOver = false;
  async function* read(query: ObjectQuery, isDone: () => boolean): AsyncGenerator<Buffer> {
    const kind: Kind = git.abilities.batchCommand ? 'command' : (query.what ?? 'contents');
    const key = keyOf(query, kind);
    const program = idle.get(key) ?? start(git, query, kind);
    idle.delete(key);
    let isWhole = false;
    try {
      yield* answer(program, query, isDone);
      isWhole = isDone();
    } finally {
      // A program with a part of its answer unread would give the rest to the next reader.
      // After the operation no other reader comes: one of its parallel reads ended later than the operation, which failed.
      if (isWhole && !isOver && !idle.has(key)) idle.set(key, program);
      else await end(program);
      query.signal?.throwIfAborted();
    }
  }
  return {
    async *read(query, isDone) {
      try {
        yield* read(query, isDone);
      } catch (error) {
        if (!isUnknownCommand(error)) throw error;
        // git before 2.36 ends before its first answer. Its other programs take one form of answer each.
        git.abilities.batchCommand = false;
        yield* read(query, isDone);
      }
    },
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      await Promise.all([...idle.values()].map(end));
    },
  };
}

const keyOf = ({ gitDir, options }: ObjectQuery, kind: Kind): string =>
  [kind, gitDir, options?.cwd ?? '', options?.as?.uid ?? ''].join('\0');

const isUnknownCommand = (error: unknown): boolean =>
  error instanceof WorkspaceError && error.code === 'EGITFAILED' && /unknown option.*batch-command/.test(error.message);

/** With `--buffer`, git writes an answer in few large pieces, at the line `flush`. */
const forms: Record<Kind, { flags: readonly string[]; ask: Program['ask'] }> = {
  command: {
    flags: ['--batch-command', '--buffer'],
    ask: ({ names, what = 'contents' }) => `${names.map((name) => `${what} ${name}\n`).join('')}flush\n`,
  },
  contents: { flags: ['--batch'], ask: ({ names }) => `${names.join('\n')}\n` },
  info: { flags: ['--batch-check'], ask: ({ names }) => `${names.join('\n')}\n` },
};

function start(git: Git, { gitDir, options = {} }: ObjectQuery, kind: Kind): Program {
  const { flags, ask } = forms[kind];
  const args = [...bigFileFlags, `--git-dir=${gitDir}`, 'cat-file', ...flags];
  const { stdin, stdout, done, kill } = git.stream(args, options);
  stdin.on('error', () => {});
  return { stdin, done, kill, ask, pieces: stdout[Symbol.asyncIterator]() as AsyncIterator<Uint8Array> };
}

async function* answer(program: Program, query: ObjectQuery, isDone: () => boolean): AsyncGenerator<Buffer> {
  const { signal } = query;
  signal?.throwIfAborted();
  const maybeYield = createYielder(signal);
  signal?.addEventListener('abort', program.kill);
  try {
    program.stdin.write(program.ask(query));
    while (!isDone()) {
      const { done, value } = await program.pieces.next();
      if (done === true) return void (await program.done);
      yield Buffer.from(value.buffer, value.byteOffset, value.length);
      const pause = maybeYield();
      if (pause !== undefined) await pause;
    }
  } finally {
    signal?.removeEventListener('abort', program.kill);
  }
}

/** Output without a reader would keep the program's end from being noticed. */
async function end({ done, kill, pieces }: Program): Promise<void> {
  kill();
  await pieces.return?.().catch(() => {});
  await done.catch(() => {});
}
