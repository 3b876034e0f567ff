import { event, type PreparedFrom, preparedSchema, seconds, snapshotIdSchema, type Words, z } from '../event.ts';

export const workspacePrepared = event('workspace.prepared', {
  data: {
    ...preparedSchema.shape,
    snapshot: snapshotIdSchema,
    parent: snapshotIdSchema,
    files_changed: z.int(),
    skipped: z.int(),
  },
  line({ data: { number, of, cached, duration_ms, files_changed, made_from } }, words) {
    const changed = `${words.counted(files_changed, 'file')} changed`;
    if (cached) return `from ${madeFromText(made_from, words)}, in ${seconds(duration_ms)}: ${changed}`;
    return `${number} of ${of} in ${seconds(duration_ms)}: ${changed}`;
  },
});

function madeFromText(from: PreparedFrom | undefined, { name }: Words): string {
  if (from === undefined) return 'an earlier run';
  const { run_id, at, source, ref, commit, bound_to } = from;
  const place = source === null ? '' : ` of ${name(source)}`;
  const where = ref === null ? '' : ` at ${name(ref)}`;
  const which = commit === null ? '' : ` (${commit.slice(0, 12)})`;
  const bound = bound_to === 'inputs' ? ', bound to the inputs that the operator names' : '';
  return `${run_id}${place}${where}${which} on ${at.slice(0, 10)}${bound}`;
}
