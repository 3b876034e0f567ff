import { randomUUID } from 'node:crypto';
import type { Client } from '@holdpoint/client';
import type { Approval } from '@holdpoint/contract/wire';
import { nameText } from '@holdpoint/readable';
import type { Shell } from '../shell/index.ts';

interface Deps {
  shell: Shell;
  client: Client;
}

/** Well within the 30 seconds after which the API forgets a viewer. */
const signEveryMs = 10_000;

/** Others see that a person at this terminal looks at the approval, until the person has decided or left. */
export async function whileLooking<T>({ shell, client }: Deps, approval: Approval, act: () => Promise<T>): Promise<T> {
  if (approval.status !== 'pending' || !shell.interactive) return act();
  const page = randomUUID();
  const look = () => client.lookAtApproval(approval.id, page).catch(notMissed);
  const viewers = client.listPresence().catch(() => []);
  for (const line of viewersText(await viewers, approval)) shell.say(line);
  await look();
  const timer = setInterval(() => void look(), signEveryMs);
  try {
    return await act();
  } finally {
    clearInterval(timer);
    await client.leaveApproval(approval.id, page).catch(notMissed);
  }
}

/** A person reads what the command printed after its end: others see the person for 30 seconds. */
export async function signPresence({ shell, client }: Deps, approval: Approval): Promise<void> {
  if (approval.status !== 'pending' || !shell.interactive) return;
  await client.lookAtApproval(approval.id, randomUUID()).catch(notMissed);
}

export function viewersText(presence: Awaited<ReturnType<Client['listPresence']>>, { id }: Approval): string[] {
  const viewers = presence.find(({ approval_id }) => approval_id === id)?.viewers ?? [];
  if (viewers.length === 0) return [];
  return [`Looking at it now: ${viewers.map(({ name }) => nameText(name)).join(', ')}`];
}

// Nothing depends on a sign: a lost one changes what others see, not who may decide.
const notMissed = (): void => {};
