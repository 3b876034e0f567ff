import { type HiddenFiles, pathChangeSchema } from '../../diff.ts';
import {
  approvalEvent,
  approvalIdSchema,
  approvalKindSchema,
  approvalTermsSchema,
  decisionKindSchema,
  type PublishPlan,
  payloadOf,
  riskSchema,
  snapshotIdSchema,
  type Words,
  z,
} from '../event.ts';
import { delegationSchema } from './delegated.ts';

/** Most changed paths named in an approval; the others are only counted. */
export const mostChangesNamed = 100;

/** A decision became void, because the files have changed since the decision. */
export const actionChangedSchema = z.strictObject({
  approval_id: approvalIdSchema.describe('The decided approval'),
  from: snapshotIdSchema.describe('The snapshot that the decision was made on'),
  to: snapshotIdSchema.describe('The snapshot before the call would have started'),
  changes: z.array(pathChangeSchema).max(mostChangesNamed),
  total: z.int(),
  uses: z
    .string()
    .optional()
    .describe(
      'Set when the call would use other content of a sub-agent than was shown: its run and snapshot now; empty: none',
    ),
});
export type ActionChanged = z.infer<typeof actionChangedSchema>;

/** Shown to a person before a decision: the plan of a publish, or a preview of a call by its kind. */
export type Shown = PublishPlan | { kind: string };

/** The question of an approval. */
export const approvalRequestSchema = z.strictObject({
  ...approvalTermsSchema.shape,
  kind: approvalKindSchema,
  action_digest: z.string().optional().describe('For a publish. The digest of a call is computed from the call'),
  reason: z.string(),
  risk: riskSchema,
  preview: payloadOf<Shown>().optional(),
  uses: z.string().optional().describe('What the call uses of another run; the digest covers it'),
  reaches: z
    .array(z.string())
    .optional()
    .describe('For a command and for a call that names hosts: the hosts that it may reach; the digest covers them'),
  allowed_decisions: z.array(decisionKindSchema),
  expires_at: z.iso.datetime(),
  changed: actionChangedSchema.optional().describe('Set when the call was decided before and the files changed since'),
  replaces: z
    .strictObject({
      approval_id: approvalIdSchema,
      delegations: z.array(delegationSchema).optional(),
      escalated: z.array(z.string()).optional(),
    })
    .optional()
    .describe('The approval of the same call without its result, and what of it stays'),
  edited_by: z
    .array(z.string())
    .optional()
    .describe(
      'Who gave the call its arguments in earlier decisions: where duties are separated, another person confirms them',
    ),
  files: z
    .strictObject({
      snapshot: snapshotIdSchema,
      since: snapshotIdSchema.describe('Where the change set of the run is counted from'),
      hidden: payloadOf<HiddenFiles>().optional().describe('Without it nothing is hidden'),
    })
    .optional()
    .describe('What a call may find at that snapshot and a person cannot see. Without it: not known when it was asked'),
});

export const approvalRequested = approvalEvent('approval.requested', {
  data: { approval_id: approvalIdSchema, snapshot: snapshotIdSchema, ...approvalRequestSchema.shape },
  line: ({ data: { risk, reason, changed } }, words) =>
    `${words.call} (${risk} risk; ${reason}${changedPaths(changed, words)})`,
  tone: 'warning',
});

/** Paths in one line. */
const maxPaths = 3;

function changedPaths(changed: ActionChanged | undefined, words: Words): string {
  if (changed === undefined || changed.total === 0) return '';
  const paths = changed.changes.slice(0, maxPaths).map(({ path, change }) => `${change} ${words.name(path)}`);
  const more = changed.total - paths.length;
  return `; ${paths.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
