import type { Client } from '@holdpoint/client';
import type { Run } from '@holdpoint/contract/wire';
import { type Command, Option } from 'commander';
import { exitCodeOf } from '../../follow-run.ts';
import { commandLine, type FollowOptions, type Shell, withFollowOptions } from '../../shell/index.ts';
import { followToNext } from '../watch.ts';

export interface SubmitOptions extends FollowOptions {
  json?: boolean;
  follow?: true;
  detach?: true;
  idempotencyKey?: string;
}

/** Options of a command for submitting a run. */
export function withSubmitOptions(command: Command): Command {
  command
    .addOption(new Option('--follow', 'print its events until it ends (default on a tty)').conflicts('detach'))
    .option('--detach', 'print its id and return (default without a tty)')
    .option('--idempotency-key <text>', 'the same key within 24 hours: the same run');
  return withFollowOptions(command);
}

/** Prints the submitted run. On a terminal, or by option, follows the run to its end. */
export async function followSubmitted(
  { shell, client }: { shell: Shell; client: Client },
  { run, created }: { run: Run; created: boolean },
  options: SubmitOptions,
): Promise<void> {
  const { json = false } = options;
  if (!created) shell.say(`${run.id} was already submitted with this key.`);
  if (!follows(shell, run, options)) {
    if (json) return shell.printJson(run);
    shell.print(run.id);
    if (run.planner === 'open') {
      shell.say(`call:     ${commandLine('calls', run.id)} '{"tool": "…", "args": {…}}'`);
      return shell.say(`finish:   ${commandLine('finish', run.id)}`);
    }
    return shell.say(`follow:   ${commandLine('watch', run.id)}`);
  }
  const { workers } = await client.ready();
  if (workers === 0) shell.say('No worker is running: the run waits for one (npm start).');
  const input = { runId: run.id, json, wait: options.wait, timeoutMs: options.timeout };
  const ended = await followToNext({ shell, client }, input);
  shell.exitCode = exitCodeOf(ended);
}

/** The exit codes of --timeout, --wait and --no-wait hold with and without a terminal. An open run does nothing before it gets calls. */
function follows(shell: Shell, { planner }: Run, { follow, detach, timeout, wait }: SubmitOptions): boolean {
  if (detach === true) return false;
  return follow === true || timeout !== undefined || wait !== undefined || (shell.interactive && planner !== 'open');
}
