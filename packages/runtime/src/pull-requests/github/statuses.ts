import type { Wanted } from '../port.ts';
import { anything, statusesSchema } from './answers.ts';
import { type Api, ask } from './request.ts';

/**
 * Marks the commit before the pull request is opened, so no reader sees one without the other. Commit statuses take a token; check runs take
 * the key of an app.
 */
export async function markCommit(
  api: Api,
  at: string,
  { commit, statuses }: Pick<Wanted, 'commit' | 'statuses'>,
): Promise<void> {
  const read = { path: `${at}/commits/${commit}/status?per_page=100`, answer: statusesSchema };
  const there = await ask(api, { ...read, to: 'read the statuses of the commit' });
  for (const { context, description } of statuses) {
    const last = there?.statuses.find((one) => one.context === context);
    if (last?.state === 'success' && last.description === description) continue;
    const body = { state: 'success', context, description };
    const request = { method: 'POST', path: `${at}/statuses/${commit}`, body } as const;
    await ask(api, { ...request, answer: anything, to: 'mark the commit' });
  }
}
