import { createYielder } from '../files/index.ts';
import { bigFileFlags, type Git, type GitStream, type ObjectReader } from './git.ts';

/**
 * Keeps a `git cat-file --batch` open for the reads of an operation: starting git takes 18 ms from a large process, and a plan of a publish
 * reads objects up to nine times. The program ends with the operation, so every operation reads the repository as it is then.
 */
export async function withObjectReader<D extends { readonly git: Git }, Result>(
  deps: D,
  act: (deps: D) => Promise<Result>,
): Promise<Result> {
  await using objects = openObjectReader(deps.git);
  return await act({ ...deps, git: { ...deps.git, objects } });
}

interface Program extends Pick<GitStream, 'stdin' | 'done' | 'kill'> {
  pieces: AsyncIterator<Uint8Array>;
}

function openObjectReader(git: Git): ObjectReader & AsyncDisposable {
  /** Idle programs, by repository. A program in use is not in the list, so two answers never mix. */
  const idle = new Map<string, Program>();
  let isOver = false;
  return {
    async *read({ gitDir, names, signal }, isDone) {
      const program = idle.get(gitDir) ?? start(git, gitDir);
      idle.delete(gitDir);
      let isWhole = false;
      try {
        yield* answer(program, { names, signal }, isDone);
        isWhole = isDone();
      } finally {
        // A program with a part of its answer unread would give the rest to the next reader.
        // After the operation no other reader comes: one of its parallel reads ended later than the operation, which failed.
        if (isWhole && !isOver && !idle.has(gitDir)) idle.set(gitDir, program);
        else await end(program);
        signal?.throwIfAborted();
      }
    },
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      await Promise.all([...idle.values()].map(end));
    },
  };
}

function start(git: Git, gitDir: string): Program {
  const { stdin, stdout, done, kill } = git.stream([...bigFileFlags, `--git-dir=${gitDir}`, 'cat-file', '--batch']);
  stdin.on('error', () => {});
  return { stdin, done, kill, pieces: stdout[Symbol.asyncIterator]() as AsyncIterator<Uint8Array> };
}

async function* answer(
  program: Program,
  { names, signal }: { names: readonly string[]; signal: AbortSignal | undefined },
  isDone: () => boolean,
): AsyncGenerator<Buffer> {
  signal?.throwIfAborted();
  const maybeYield = createYielder(signal);
  signal?.addEventListener('abort', program.kill);
  try {
    program.stdin.write(`${names.join('\n')}\n`);
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
