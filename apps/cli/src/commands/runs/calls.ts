import type { ReceivedCalls, SendCalls, StepDetail } from '@holdpoint/contract/wire';
import { oneLine, plain, table } from '../../output/index.ts';
import * as cli from '../../shell/index.ts';

interface CallsOptions extends cli.ApiOptions {
  concurrent?: true;
  idempotencyKey?: string;
  timeout?: number;
  detach?: true;
}

export const sendCallsCommand = (shell: cli.Shell) =>
  cli
    .apiCommand('calls', 'send an open run the calls of its next turn, and wait until they are settled')
    .argument('<run>', 'id of the run')
    .argument('<calls>', 'JSON: a call {tool, args, name} or an array of calls; - reads standard input')
    .option('--concurrent', 'run the calls whose tools can do so side by side')
    .option('--idempotency-key <text>', 'repeating this key and these calls makes them once')
    .option('--detach', 'send them and return')
    .option('--timeout <seconds>', 'stop waiting after this time and exit 6', cli.seconds)
    .action(async (runId: string, text: string, options: CallsOptions) => {
      const { url, json, concurrent, idempotencyKey, detach, timeout } = options;
      const calls = callsIn(text === '-' ? await shell.readInput() : text);
      const client = await shell.connect(url);
      const until = performance.now() + (timeout ?? Number.POSITIVE_INFINITY);
      let received = await client.sendCalls(runId, { calls, concurrent }, { idempotencyKey });
      while (!detach && !received.settled && performance.now() < until && !isParked(received)) {
        const left = Math.ceil((until - performance.now()) / 1000);
        received = await client.getCalls(runId, received.number, { waitS: Math.min(lookEveryS, Math.max(0, left)) });
      }
      if (json) shell.printJson(received);
      else printCalls(shell, received);
      if (!detach || received.settled) shell.exitCode = exitCodeOf(received);
    });

/** The API does not wait for parked steps. */
const lookEveryS = 2;

interface FinishOptions extends cli.ApiOptions {
  message?: string;
}

export const finishRunCommand = (shell: cli.Shell) =>
  cli
    .apiCommand('finish', 'finish an open run: no more calls come, and its changes can be published')
    .argument('<run>', 'id of the run')
    .option('--message <text>', 'the last message of the run')
    .action(async (runId: string, { url, json, message }: FinishOptions) => {
      const run = await (await shell.connect(url)).finishRun(runId, { message });
      if (json) return shell.printJson(run);
      shell.print(`${run.id} is ${run.status}`);
      shell.say(`review:   ${cli.commandLine('runs', 'diff', run.id)}`);
      shell.say(`publish:  ${cli.commandLine('runs', 'publish', run.id)}`);
    });

function callsIn(text: string): SendCalls['calls'] {
  try {
    const value: unknown = JSON.parse(text);
    // The API checks each of them.
    return (Array.isArray(value) ? value : [value]) as SendCalls['calls'];
  } catch (cause) {
    const what = cause instanceof Error ? cause.message : String(cause);
    throw new cli.CliError('usage', `The calls are not JSON: ${what}`, {
      cause,
      next: `For example: '[{"tool": "read_file", "args": {"path": "a.txt"}}]'`,
    });
  }
}

const isParked = ({ steps }: Pick<ReceivedCalls, 'steps'>): boolean =>
  steps.some(({ status }) => status === 'parked' || status === 'indeterminate');

/** The result of a call, on a single line. */
const resultLine = ({ result, error }: StepDetail): string =>
  error === null ? JSON.stringify(result) : `${error.code}: ${error.message}`;

function printCalls(shell: cli.Shell, { steps }: ReceivedCalls): void {
  const rows = steps.map((step) => [step.tool, step.status, oneLine(resultLine(step), 200)]);
  for (const line of table(['TOOL', 'STATUS', { text: 'RESULT' }], rows, shell.tableWidth)) shell.print(line);
  for (const { status, approval_id: id } of steps) {
    if (status === 'parked' && id !== null)
      shell.say(plain(`decide:   ${cli.commandLine('approvals', 'approve', id)}`));
  }
}

function exitCodeOf(received: ReceivedCalls): cli.ExitCode {
  if (isParked(received)) return cli.exitCodes.waiting;
  if (!received.settled) return cli.exitCodes.timeout;
  return received.steps.every(({ status }) => status === 'succeeded') ? cli.exitCodes.ok : cli.exitCodes.failed;
}
