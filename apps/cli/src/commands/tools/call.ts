import type { Client } from '@holdpoint/client';
import { isSettled, isTerminal, type Json } from '@holdpoint/contract';
import type { StepDetail } from '@holdpoint/contract/wire';
import { howToDecide } from '../../follow-run.ts';
import { plain, plainJson } from '../../output/index.ts';
import { findSource } from '../../plan/find-source.ts';
import * as cli from '../../shell/index.ts';
import { decideOn } from '../approvals/inbox.ts';
import { publish } from '../runs/publish.ts';

interface CallOptions extends cli.ApiOptions, cli.FollowOptions {
  toolset: string;
  workspace?: string;
  args: string;
  allow?: string[];
  publish?: true;
}

interface Deps {
  shell: cli.Shell;
  client: Client;
}

export function callToolCommand(shell: cli.Shell) {
  const command = cli
    .apiCommand('call', 'call one tool on a copy of a directory, and print its result')
    .argument('<tool>', 'name of the tool')
    .option('--toolset <name>', 'the toolset that has it', 'holdpoint')
    .option('--workspace <dir>', 'the tool works on a copy of this directory (default: an empty one)')
    .option('--args <json>', 'arguments; - reads standard input', '{}')
    .option('--allow <host[:port]>', 'let the tool reach this host; may be repeated (default: none)', cli.several)
    .option('--publish', 'when the call succeeds, bring its changes into the directory (default: they are dropped)')
    .addHelpText('after', help);
  return cli.withFollowOptions(command).action(async (tool: string, options: CallOptions) => {
    const args = argsIn(options.args === '-' ? await shell.readInput() : options.args);
    if (options.publish && options.workspace === undefined) {
      throw new cli.CliError('usage', '--publish needs --workspace: an empty workspace has no source.');
    }
    const source =
      options.workspace === undefined ? {} : { source: options.workspace, sourceType: 'directory' as const };
    const client = await shell.connect(options.url);
    const { run } = await client.createRun({
      open: true,
      title: `${tool}, called by hand`,
      toolset: options.toolset,
      workspace: { source: await findSource(shell.config.cwd, source) },
      network: { allow: options.allow ?? [] },
    });
    if ((await client.ready()).workers === 0) shell.say('No worker is running: the call waits for one (npm start).');
    const step = await settled({ shell, client }, run.id, { tool, args }, options);
    if (step === undefined) return;
    const { result } = step;
    const shown = result === null && step.error !== null ? { status: step.status, error: step.error } : result;
    if (options.json) shell.printJson(shown);
    else shell.print(typeof shown === 'string' ? plain(shown) : plainJson(shown, 2));
    if (step.status !== 'succeeded') shell.exitCode = cli.exitCodes.failed;
    await end({ shell, client }, run.id, { keep: options.publish === true && step.status === 'succeeded' });
  });
}

const help = `
Prints the result as the toolset has it; --json prints it as one line of JSON.
A call that waits for an approval is asked about on a terminal. Elsewhere its id is printed, and the command waits; with --no-wait it
exits 5, and the call is made after the decision.
Exit codes: 0 the call succeeded, 1 it failed or was rejected.`;

function argsIn(text: string) {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new cli.CliError('usage', `--args is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

/** Makes the call and waits for its end. @returns undefined when the command stops waiting before */
async function settled(
  { shell, client }: Deps,
  runId: string,
  call: { tool: string; args: Json },
  { wait, timeout }: Pick<cli.FollowOptions, 'wait' | 'timeout'>,
): Promise<StepDetail | undefined> {
  const until = performance.now() + (timeout ?? Number.POSITIVE_INFINITY);
  const asked = new Set<string>();
  let { steps, number } = await client.sendCalls(runId, { calls: [call] }, { waitS: lookEveryS });
  for (;;) {
    const [step] = steps;
    if (step !== undefined && isSettled(step.status)) return step;
    if (performance.now() >= until) return leave(shell, runId, cli.exitCodes.timeout);
    const approvalId = step?.status === 'parked' || step?.status === 'indeterminate' ? step.approval_id : null;
    if (approvalId !== null && !asked.has(approvalId)) {
      asked.add(approvalId);
      const isDecided = shell.interactive && (await decideOn({ shell, client }, await client.getApproval(approvalId)));
      if (!isDecided) for (const line of howToDecide(approvalId)) shell.say(line);
      if (!isDecided && wait === false) return leave(shell, runId, cli.exitCodes.waiting);
    }
    const run = step?.status === 'parked' ? undefined : await client.getRun(runId);
    if (run?.status === 'paused') {
      shell.say(plain(`${runId} is paused. ${run.reason?.message ?? ''}`));
      return leave(shell, runId, cli.exitCodes.waiting);
    }
    ({ steps } = await client.getCalls(runId, number, { waitS: lookEveryS }));
  }
}

/** The API does not wait for parked steps. */
const lookEveryS = 2;

function leave(shell: cli.Shell, runId: string, exitCode: cli.Shell['exitCode']): undefined {
  shell.exitCode = exitCode;
  shell.say(`The run ${runId} stays open.`);
  shell.say(`look:     ${cli.commandLine('runs', 'steps', runId)}`);
  shell.say(`finish:   ${cli.commandLine('finish', runId)}`);
}

async function end({ shell, client }: Deps, runId: string, { keep }: { keep: boolean }): Promise<void> {
  const { status } = await client.getRun(runId);
  if (!isTerminal(status)) await client.finishRun(runId);
  await client.waitForRun(runId);
  if (!keep) {
    await client.discard(runId);
    return;
  }
  const publication = await publish({ shell, client }, runId, { body: {}, timeout: undefined });
  if (publication.status === 'published') return;
  shell.say(`Its changes are not published (${publication.status}): ${cli.commandLine('runs', 'show', runId)}`);
  shell.exitCode = publication.status === 'parked' ? cli.exitCodes.waiting : cli.exitCodes.conflict;
}
