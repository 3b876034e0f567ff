import type { ProcessLimits } from '@holdpoint/contract';
import { resolveLimits } from '../limits.ts';
import { setupError, startTree } from '../run-command.ts';
import { type Driver, SandboxError, type Tree, type TreeRequest } from '../tree.ts';
import { FrameReader } from './frame-reader.ts';

/** A program of Holdpoint that answers requests inside the sandbox of a workspace. */
interface Framed extends Pick<TreeRequest, 'workspace' | 'argv' | 'hostFiles'> {
  limits: Partial<ProcessLimits>;
  /** A longer line is a violation. */
  maxLineBytes: number;
}

export interface FramedEvents {
  /** @returns the number of content bytes that follow */
  onLine(line: Buffer): number;
  onContent(content: Buffer): void;
  onLongLine(): void;
  /** True once the program has failed: its further output does not count. */
  hasFailed(): boolean;
  /** @param how the end of the process, with its last words */
  onLost(how: string): void;
  /** The sandbox of the program failed. */
  onFailure(error: SandboxError): void;
}

/**
 * Starts a program that runs until the worker ends it.
 * @returns its processes, and a promise of their end
 */
export function startFramed(
  driver: Driver,
  { limits, maxLineBytes, ...program }: Framed,
  events: FramedEvents,
): { tree: Tree; ended: Promise<void> } {
  const tree = startTree(driver, {
    ...program,
    ...{ label: null, cwd: '.', env: {}, egress: null, stdin: null },
    // CPU seconds add up over the program's whole life.
    limits: resolveLimits({ cpu_seconds: 1_000_000, ...limits }),
  });
  const frames = new FrameReader(maxLineBytes, events.onLine, events.onContent);
  tree.stdout.on('data', (chunk: Buffer) => {
    if (!events.hasFailed() && !frames.push(chunk)) events.onLongLine();
  });
  const stderr: Buffer[] = [];
  tree.stderr.on('data', (chunk: Buffer) => {
    // A chunk of the stream is valid only until its listeners return.
    if (stderr.length < 16) stderr.push(Buffer.from(chunk.subarray(0, 4096)));
  });
  for (const stream of [tree.stdout, tree.stderr, tree.stdin]) stream?.on('error', () => {});
  return { tree, ended: reportEnd(tree, stderr, events) };
}

async function reportEnd(tree: Tree, stderr: readonly Buffer[], events: FramedEvents): Promise<void> {
  try {
    const end = await tree.ended;
    const words = Buffer.concat(stderr).toString('utf8').trim();
    if (end.status === 'setup_failed' && !events.hasFailed()) events.onFailure(setupError(end.detail ?? words));
    const how = end.status === 'exited' ? `exit code ${end.exit_code}` : end.status;
    events.onLost(`ended (${how}) ${words.slice(0, 2000)}`.trim());
  } catch (error) {
    events.onFailure(error instanceof SandboxError ? error : setupError(String(error)));
    throw error;
  }
}
