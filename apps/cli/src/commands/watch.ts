import type { Client } from '@holdpoint/client';
import type { EventOf } from '@holdpoint/contract';
import type { RunDetail } from '@holdpoint/contract/wire';
import { offersAgain } from '../deciding/confirm.ts';
import { exitCodeOf, type FollowInput, followRun, howToDecide, nextSteps } from '../follow-run.ts';
import { timeline } from '../output/index.ts';
import { type ApiOptions, apiCommand, type FollowOptions, type Shell, withFollowOptions } from '../shell/index.ts';
import { publishOrAsk } from './runs/publish.ts';

export function watchCommand(shell: Shell) {
  const command = apiCommand('watch', 'follow a run until it ends')
    .argument('<run>', 'id of the run')
    .option('--exit-status', 'exit by the status of the run: 0 succeeded, 1 failed, 3 canceled or expired, 5 waiting');
  return withFollowOptions(command).action(
    async (runId: string, { url, json = false, ...options }: ApiOptions & FollowOptions & { exitStatus?: true }) => {
      const client = await shell.connect(url);
      const input = { runId, json, wait: options.wait, timeoutMs: options.timeout };
      const run = await followToNext({ shell, client }, input);
      if (options.exitStatus || options.wait === false || run.status === 'paused') shell.exitCode = exitCodeOf(run);
    },
  );
}

type Requested = EventOf<'workspace.publish_requested'>['data'];

/** Follows a run and prints the next commands. After a publish that a validator stopped, offers a person on a terminal to publish again. */
export async function followToNext(deps: { shell: Shell; client: Client }, input: FollowInput): Promise<RunDetail> {
  const { shell } = deps;
  let requested: Requested | undefined;
  const ended = await followRun(deps, {
    ...input,
    onEvent: (event) => {
      if (event.type === 'workspace.publish_requested') requested = event.data;
    },
  });
  for (const line of nextSteps(ended)) shell.say(line);
  const asks = shell.interactive && !input.json && input.wait !== false;
  if (!asks || requested === undefined || !failedValidator(ended)) return ended;
  if (await offersAgain(deps, ended.id, {})) await publishOrAsk(deps, ended.id, sameRequest(requested), {});
  return ended;
}

const failedValidator = ({ publication: { status, reason } }: RunDetail): boolean =>
  status === 'failed' && reason?.code === 'validator_failed';

/** The person publishes the same snapshot to the same branch. */
const sameRequest = ({ snapshot, branch, message, author, include_ignored }: Requested) => ({
  body: { snapshot, branch, message, author, include_ignored },
  timeout: undefined,
});

const pageSize = 500;

export const logsCommand = (shell: Shell) =>
  apiCommand('logs', "print a run's events")
    .argument('<run>', 'id of the run')
    .option('-f, --follow', 'continue until the run ends')
    .action(async (runId: string, { url, json = false, follow = false }: ApiOptions & { follow?: boolean }) => {
      const client = await shell.connect(url);
      if (follow) {
        await followRun({ shell, client }, { runId, json, wait: true });
        return;
      }
      const lines = timeline({ colors: shell.colors, width: shell.width, howToDecide });
      for (let after: number | undefined = 0; after !== undefined; ) {
        const page = await client.listEvents(runId, { after, limit: pageSize });
        for (const event of page.data) {
          if (json) shell.printJson(event);
          else for (const line of lines(event)) shell.print(line);
        }
        after = page.next_cursor === null ? undefined : Number(page.next_cursor);
      }
    });
