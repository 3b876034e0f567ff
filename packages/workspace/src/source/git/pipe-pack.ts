import { WorkspaceError } from '../../errors.ts';
import { bigFileFlags, type Git, type GitOptions, pipeInput } from '../../host-git/git.ts';

interface Command {
  args: readonly string[];
  options?: GitOptions;
  /** Throws the caller's error when this half fails. @default its own error */
  failed?: (error: unknown) => never;
}

/**
 * Pipes objects from `pack-objects` in one repository to `index-pack` in another. Unlike `fetch`, each half runs as the owner of its
 * repository, who cannot read the other repository, and git needs no transport.
 * @param input.revs the revisions to pack, a line each
 */
export async function pipePack(git: Git, input: { pack: Command; index: Command; revs: string }): Promise<void> {
  const pack = git.stream([...bigFileFlags, ...input.pack.args], input.pack.options);
  pack.stdin.on('error', () => {});
  pack.stdin.end(input.revs);
  const index = git.stream([...bigFileFlags, ...input.index.args], input.index.options);
  index.stdout.resume();
  pipeInput(pack.stdout, index.stdin);
  // Without a reader, pack-objects would wait for ever.
  index.done.catch(() => pack.kill());
  const [packed, indexed] = await Promise.allSettled([pack.done, index.done]);
  // The first failure says more: index-pack fails on a truncated pack, and pack-objects is killed when index-pack fails.
  if (packed.status === 'rejected' && !isKilled(packed.reason)) fail(input.pack, packed.reason);
  if (indexed.status === 'rejected') fail(input.index, indexed.reason);
  if (packed.status === 'rejected') fail(input.pack, packed.reason);
}

function fail({ failed }: Command, error: unknown): never {
  failed?.(error);
  throw error;
}

const isKilled = (error: unknown): boolean =>
  error instanceof WorkspaceError &&
  error.cause instanceof Error &&
  'signal' in error.cause &&
  error.cause.signal !== undefined;
