import type { Client } from '@holdpoint/client';
import type { Step } from '@holdpoint/contract/wire';

/** All steps of a run, page by page, in the order they were planned. */
export async function allSteps(client: Client, runId: string): Promise<Step[]> {
  const steps: Step[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await client.listSteps(runId, { limit: 1000, cursor });
    steps.push(...page.data);
    if (page.next_cursor === null) return steps;
    cursor = page.next_cursor;
  }
}
