import { type HiddenFiles, pathChangeSchema } from '../../diff.ts';
import * as event from '../event.ts';
import { delegationSchema } from './delegated.ts';

/** Most changed paths named in an approval; the others are only counted. */
export const mostChangesNamed = 100;

/** A decision became void, because the files have changed since the decision. */
export const actionChangedSchema = event.z.strictObject({
  approval_id: event.approvalIdSchema.describe('The decided approval'),
  from: event.snapshotIdSchema.describe('The snapshot that the decision was made on'),
  to: event.snapshotIdSchema.describe('The snapshot before the call would have started'),
  changes: event.z.array(pathChangeSchema).max(mostChangesNamed),
  total: event.z.int(),
  uses: event.z
    .string()
    .optional()
    .describe(
      'Set when the call would use other content of a sub-agent than was shown: its run and snapshot now; empty: none',
    ),
});
export type ActionChanged = event.z.infer<typeof actionChangedSchema>;

/** Shown to a person before a decision: the plan of a publish, or a preview of a call by its kind. */
export type Shown = event.PublishPlan | { kind: string };

/** The question of an approval. */
export const approvalRequestSchema = event.z.strictObject({
  ...event.approvalTermsSchema.shape,
  kind: event.approvalKindSchema,
  action_digest: event.z.string().optional().describe('For a publish. The digest of a call is computed from the call'),
  reason: event.z.string(),
  risk: event.riskSchema,
  preview: event.payloadOf<Shown>().optional(),
  uses: event.z.string().optional().describe('What the call uses of another run; the digest covers it'),
  reaches: event.z
    .array(event.z.string())
    .optional()
    .describe('For a command and for a call that names hosts: the hosts that it may reach; the digest covers them'),
  allowed_decisions: event.z.array(event.decisionKindSchema),
  expires_at: event.z.iso.datetime(),
  changed: actionChangedSchema.optional().describe('Set when the call was decided before and the files changed since'),
  replaces: event.z
    .strictObject({
      approval_id: event.approvalIdSchema,
      delegations: event.z.array(delegationSchema).optional(),
      escalated: event.z.array(event.z.string()).optional(),
    })
    .optional()
    .describe('The approval of the same call without its result, and what of it stays'),
  edited_by: event.z
    .array(event.z.string())
    .optional()
    .describe(
      'Who gave the call its arguments in earlier decisions: where duties are separated, another person confirms them',
    ),
  files: event.z
    .strictObject({
      snapshot: event.snapshotIdSchema,
      since: event.snapshotIdSchema.describe('Where the change set of the run is counted from'),
      hidden: event.payloadOf<HiddenFiles>().optional().describe('Without it nothing is hidden'),
    })
    .optional()
    .describe('What a call may find at that snapshot and a person cannot see. Without it: not known when it was asked'),
});

export const approvalRequested = event.approvalEvent('approval.requested', {
  data: { approval_id: event.approvalIdSchema, snapshot: event.snapshotIdSchema, ...approvalRequestSchema.shape },
  line: ({ data: { risk, reason, changed } }, words) =>
    `${words.call} (${risk} risk; ${reason}${changedPaths(changed, words)})`,
  tone: 'warning',
});

/** Paths in one line. */
const maxPaths = 3;

function changedPaths(changed: ActionChanged | undefined, words: event.Words): string {
  if (changed === undefined || changed.total === 0) return '';
  const paths = changed.changes.slice(0, maxPaths).map(({ path, change }) => `${change} ${words.name(path)}`);
  const more = changed.total - paths.length;
  return `; ${paths.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
