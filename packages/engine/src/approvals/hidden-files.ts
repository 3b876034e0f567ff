import type { EventOf, NewEvent } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import type { RunState, Transition } from '../domain/index.ts';
import { toPayload } from '../log/index.ts';

type Files = NonNullable<EventOf<'approval.requested'>['data']['files']>;

/**
 * Records with each question about a call the files that a person cannot see, so that no reader of a list has to open the workspace. For an
 * unreadable workspace nothing is recorded: the API then reads the workspace and reports the problem.
 * @param asked.opened ids of the approvals that wait for a person
 */
export async function withHiddenFiles(
  deps: WorkerDeps,
  run: RunState,
  { transition, opened }: { transition: Transition; opened: readonly string[] },
): Promise<Transition> {
  const seen = new Map<string, Files | undefined>();
  const events: NewEvent[] = [];
  for (const event of transition.events) {
    const isAsked = event.type === 'approval.requested' && opened.includes(event.data.approval_id);
    if (!isAsked || event.step_id === undefined) {
      events.push(event);
      continue;
    }
    const { snapshot } = event.data;
    if (!seen.has(snapshot)) seen.set(snapshot, await filesAt(deps, run, snapshot));
    events.push({ ...event, data: { ...event.data, files: seen.get(snapshot) } });
  }
  return { ...transition, events };
}

async function filesAt(deps: WorkerDeps, { id: runId, base: since }: RunState, snapshot: string) {
  if (since === undefined || snapshot === '') return undefined;
  try {
    const hidden = await deps.workspaces.hiddenFiles({ runId, since, snapshot });
    const isEmpty = hidden.unknown.length + hidden.repositories.length === 0;
    return { snapshot, since, hidden: isEmpty ? undefined : await toPayload(deps.blobs, hidden) };
  } catch (error) {
    deps.logger.warn({ run_id: runId, snapshot, err: error }, 'the files of a held call could not be looked at');
    return undefined;
  }
}
