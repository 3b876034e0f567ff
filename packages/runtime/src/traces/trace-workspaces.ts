import { attribute, spanName } from '@holdpoint/contract';
import type { WorkspacePort } from '@holdpoint/engine/worker';
import type { LiveSpans } from '@holdpoint/telemetry';
import { observe, tableOf } from '../observe.ts';

/** Operations with much time on the disk and without a span from the log. */
const operations = {
  snapshot: spanName.workspace('snapshot'),
  differenceFrom: spanName.workspace('compare'),
  restore: spanName.workspace('restore'),
  planPublish: 'publish plan',
  publish: 'publish write',
} as const satisfies Partial<Record<keyof WorkspacePort, string>>;

/** The same port: these operations are spans, below the span of their job. */
export const traceWorkspaces = (port: WorkspacePort, live: LiveSpans): WorkspacePort =>
  observe(
    port,
    tableOf<WorkspacePort, string>(operations, (act, name, method) => (...input) => {
      return live.during({ name, attributes: { [attribute.workspaceAction]: method } }, () => act(...input));
    }),
  );
