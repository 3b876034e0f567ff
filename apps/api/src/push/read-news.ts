import type { Holder } from '@holdpoint/callers';
import { isTerminal } from '@holdpoint/contract';
import { EngineError, type OpenEngine, type PushJob } from '@holdpoint/engine';
import { oneLine } from '@holdpoint/readable';
import type { Secrets } from '@holdpoint/secrets';

export interface NewsDeps {
  openEngine: OpenEngine;
  secrets: Pick<Secrets, 'redactor'>;
  now: () => number;
}

/** The content of a push. A lock screen may show it, so it has no arguments. */
interface News {
  text: Record<string, string>;
  urgency: 'high' | 'normal';
  /** Seconds for the push service to keep it while the device is off. */
  ttlS: number;
}

/** @returns undefined when the subscriber may not read it, or when it is no news any more */
export async function readNews(deps: NewsDeps, holder: Holder, job: PushJob): Promise<News | undefined> {
  if (!holder.scopes.includes(job.about === 'approval' ? 'approvals:read' : 'runs:read')) return undefined;
  try {
    return await (job.about === 'approval' ? readApproval(deps, holder, job) : readEnd(deps, holder, job));
  } catch (error) {
    if (error instanceof EngineError && /_not_found$/.test(error.code)) return undefined;
    throw error;
  }
}

async function readApproval(deps: NewsDeps, { caller }: Holder, { about_id }: PushJob): Promise<News | undefined> {
  const view = await deps.openEngine.as(caller).approvals.get(about_id);
  const { status, request } = view.approval;
  if (status !== 'pending') return undefined;
  const tool = view.subject === 'step' ? view.step.call.tool : 'publish';
  const url = `/approvals/${about_id}`;
  const leftS = Math.ceil((Date.parse(request.expires_at) - deps.now()) / 1000);
  return {
    text: { kind: 'approval', tool, title: titleOf(deps, caller.tenant, view.run), risk: request.risk, url },
    urgency: 'high',
    ttlS: Math.min(Math.max(leftS, 0), longestTtlS),
  };
}

async function readEnd(deps: NewsDeps, { caller }: Holder, { about_id }: PushJob): Promise<News | undefined> {
  const run = await deps.openEngine.as(caller).runs.get(about_id);
  if (!isTerminal(run.status)) return undefined;
  const title = titleOf(deps, caller.tenant, run);
  return { text: { kind: 'end', title, status: run.status, url: `/runs/${about_id}` }, urgency: 'normal', ttlS: dayS };
}

const dayS = 24 * 3600;
/** Push services keep nothing longer. */
const longestTtlS = 28 * dayS;

const titleOf = ({ secrets }: NewsDeps, tenant: string, run: { header: { title: string } }): string =>
  oneLine(secrets.redactor(tenant).text(run.header.title), 120);
