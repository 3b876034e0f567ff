import type { Tenant } from '@holdpoint/contract';
import type { EngineDeps } from '../../deps.ts';
import type { ApprovalView } from '../view-approval.ts';
import { countDecisions, type PastDecisions } from './count-decisions.ts';
import { type Lead, readLead } from './read-lead.ts';

/** What led to a question, and how people answered questions like it. */
interface ApprovalContext extends Lead {
  /** Undefined for a publish: no two are alike. */
  decided: PastDecisions | undefined;
}

/** Reads the log of the run back to the last decision, and a bounded number of entries of the tenant's runs. */
export async function readContext(
  deps: Pick<EngineDeps, 'redis' | 'blobs' | 'catalog'>,
  tenant: Tenant,
  view: ApprovalView,
): Promise<ApprovalContext> {
  const [lead, decided] = await Promise.all([
    readLead(deps, view),
    view.subject === 'step' ? countDecisions(deps, tenant, view) : undefined,
  ]);
  return { ...lead, decided };
}
