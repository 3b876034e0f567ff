import { attribute, spanName } from '@holdpoint/contract';
import type { WorkspacePort } from '@holdpoint/engine/worker';
import type { LiveSpans } from '@holdpoint/telemetry';

/** Operations with much time on the disk and without a span from the log. */
const operations = {
  snapshot: spanName.workspace('snapshot'),
  differenceFrom: spanName.workspace('compare'),
  restore: spanName.workspace('restore'),
  planPublish: 'publish plan',
  publish: 'publish write',
} as const satisfies Partial<Record<keyof WorkspacePort, string>>;

/** The same port: these operations are spans, below the span of their job. */
export function traceWorkspaces(port: WorkspacePort, live: LiveSpans): WorkspacePort {
  const traced = { ...port };
  for (const method of Object.keys(operations) as (keyof typeof operations)[]) {
    const act = port[method] as (...input: unknown[]) => Promise<unknown>;
    const about = { name: operations[method], attributes: { [attribute.workspaceAction]: method } };
    Object.assign(traced, { [method]: (...input: unknown[]) => live.during(about, () => act(...input)) });
  }
  return traced;
}
