import type { Client } from '@holdpoint/client';
import type { EventOf } from '@holdpoint/contract';
import type { RunDetail } from '@holdpoint/contract/wire';
import { offersAgain } from '../deciding/offer-again.ts';
import { type FollowInput, followRun, nextSteps } from '../follow-run.ts';
import type { Shell } from '../shell/index.ts';
import { publishOrAsk } from './runs/publish.ts';

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
