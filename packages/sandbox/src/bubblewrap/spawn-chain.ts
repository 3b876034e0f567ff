import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { Duplex, type Readable, type Writable } from 'node:stream';
import type { CommandGroup } from '../cgroup/command-group.ts';
import type { PipePool } from '../process/index.ts';
import type { TreeRequest } from '../tree.ts';
import type { inheritedFds } from './command-line.ts';
import type { ExecChain } from './exec-chain.ts';

export interface SpawnedChain {
  subprocess: ChildProcess;
  stdin: Writable | null;
  stdout: Readable;
  stderr: Readable;
}

/**
 * Spawns the first program of a chain with its inherited fds. Uses Node's own child process and not execa 10, whose result waits for every
 * stream: the control socket may only close after the process has ended.
 */
export function spawnChain(
  { pipes, filter }: { pipes: PipePool; filter: Buffer | null },
  { chain, request, group }: { chain: ExecChain; request: TreeRequest; group: CommandGroup | null },
): SpawnedChain {
  // A program of Holdpoint speaks to the worker only, so Node's sockets will do.
  const isCommand = request.hostFiles === null;
  const stdout = isCommand ? pipes.output() : null;
  const stderr = isCommand ? pipes.output() : null;
  const passed = [stdout, stderr].flatMap((pipe) => (pipe ? [pipe.descriptor] : []));
  const pass = (fd: number) => {
    passed.push(fd);
    return fd;
  };
  try {
    const input = request.stdin === null ? ('ignore' as const) : pass(pipes.filled(Buffer.from(request.stdin)));
    const pem = request.egress?.certificates;
    const certificates = pem === undefined ? ('ignore' as const) : pass(pipes.filled(Buffer.from(pem)));
    const attachFds = (group?.openAttachFds() ?? []).map(pass);
    const options = pass(pipes.filled(nulTerminated(chain.options)));
    const program = filter ? pass(pipes.filled(filter)) : ('ignore' as const);
    const stdio: (number | 'pipe' | 'ignore' | 'ipc')[] = [
      isCommand ? 'ignore' : 'pipe',
      stdout?.descriptor ?? 'pipe',
      stderr?.descriptor ?? 'pipe',
      ...[options, program, 'pipe' as const, input, certificates, 'pipe' as const], // in the order of `inheritedFds`
      ...attachFds,
      ...(request.egress ? ['ipc' as const] : []),
    ];
    const subprocess: ChildProcess = spawn(chain.program, chain.args, {
      ...{ ...chain.start, stdio },
      cwd: '/',
      // A session of its own: Ctrl-C in the worker's terminal reaches the worker only, which then decides.
      detached: true,
    });
    const out = stdout?.stream ?? subprocess.stdout;
    const err = stderr?.stream ?? subprocess.stderr;
    if (!out || !err) throw new TypeError('no stdout');
    return { subprocess, stdin: subprocess.stdin, stdout: out, stderr: err };
  } catch (error) {
    for (const pipe of [stdout, stderr]) pipe?.stream.destroy();
    throw error;
  } finally {
    for (const fd of passed) closeSync(fd);
  }
}

/** The worker's end of an inherited fd. The other end may close first; what it did not read is of no interest then. */
export function duplexOf(subprocess: ChildProcess, fd: (typeof inheritedFds)['status' | 'control']): Duplex {
  const stream = (subprocess.stdio as readonly (Readable | Writable | null | undefined)[])[fd]; // the types know five only
  if (!(stream instanceof Duplex)) throw new TypeError('not a pipe'); // Node's pipes are sockets, which go both ways
  stream.on('error', () => {});
  return stream;
}

function nulTerminated(words: readonly string[]): Buffer {
  return Buffer.from(words.map((word) => `${word}\0`).join(''));
}
