import { closeSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { CommandGroup } from '../cgroup/command-group.ts';
import type { PipePool } from '../process/index.ts';
import type { PassedFile } from '../starter/protocol.ts';
import { passed, type Start, type Starter } from '../starter/starter.ts';
import type { TreeRequest } from '../tree.ts';
import type { ExecChain } from './exec-chain.ts';

export interface StartedChain {
  start: Start;
  /** Null for a command whose input does not stay open. */
  stdin: Writable | null;
  stdout: Socket;
  stderr: Socket;
  /** Status lines of bubblewrap and enter.sh. */
  status: Socket;
  /** The command for enter.sh. When this stream ends without a command, no command begins. */
  control: Socket;
}

/**
 * Niceness of commands without control groups. Only the priority keeps the worker ahead of these commands: 512 busy processes leave the
 * worker a fifth of a processor, and a five-hundredth at the usual priority. Child processes inherit the niceness.
 */
const lowPriority = 19;
/** Niceness of tool hosts and programs of Holdpoint: a file tool does not wait behind commands, nor the worker behind a file tool. */
const ownPriority = 5;

/**
 * Starts the first program of a chain with its inherited fds.
 *
 * @param deps.filter the system call filter; null where this architecture has none
 * @param deps.isWeighted whether a control group shares out the processors
 */
export function startChain(
  deps: { pipes: PipePool; filter: PassedFile | null; starter: Starter; isWeighted: boolean },
  { chain, request, group }: { chain: ExecChain; request: TreeRequest; group: CommandGroup | null },
): StartedChain {
  const { pipes, filter } = deps;
  const isCommand = request.hostFiles === null;
  // Only commands may print too much for the worker's memory.
  const open = () => (isCommand ? pipes.sharedOutput() : pipes.output());
  const streams = {
    ...{ stdin: isCommand && !request.keepsInput ? null : pipes.input(), stdout: open(), stderr: open() },
    ...{ status: pipes.output(), control: pipes.input() },
  };
  const given: PassedFile[] = Object.values(streams).flatMap((pipe) => (pipe ? [pipe.file] : []));
  const give = (file: PassedFile) => {
    given.push(file);
    return file;
  };
  const fill = (text: string | undefined | null) => (text == null ? null : give(pipes.filled(Buffer.from(text))));
  const close = () => {
    for (const { fd } of given.splice(0)) closeSync(fd);
  };
  try {
    const options = fill(chain.options.map((word) => `${word}\0`).join(''));
    const input = fill(request.stdin);
    const certificates = fill(request.egress?.certificates);
    const attach = (group?.openAttachFds() ?? []).map((fd) => give(passed(fd, 'write')));
    const start = deps.starter.start(
      {
        ...{
          program: chain.program,
          args: chain.args,
          options: chain.start,
          niceness: deps.isWeighted ? 0 : isCommand ? lowPriority : ownPriority,
          view: chain.view,
        },
        stdio: [
          ...[streams.stdin?.file ?? null, streams.stdout.file, streams.stderr.file],
          // in the order of `inheritedFds`
          ...[options, filter, streams.status.file, input, certificates],
          ...[{ ...streams.control.file, access: 'wait' as const }, streams.status.file],
          ...attach,
          ...(request.egress ? ['listener' as const] : []),
        ],
      },
      close,
    );
    const { stdin, stdout, stderr, status, control } = streams;
    return {
      ...{ start, stdin: stdin?.stream ?? null, stdout: stdout.stream, stderr: stderr.stream },
      ...{ status: status.stream, control: control.stream },
    };
  } catch (error) {
    close();
    for (const pipe of Object.values(streams)) pipe?.stream.destroy();
    throw error;
  }
}
