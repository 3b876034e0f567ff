import { runMarkSchema } from '../../run-mark.ts';
import { event } from '../event.ts';

/** A person's judgement on the work of a run. The last one counts. */
export const runMarked = event('run.marked', {
  data: runMarkSchema.omit({ at: true }).shape,
  line: ({ data: { mark, note, by } }) => `${by} marked it as ${mark}${note === undefined ? '' : `: ${note}`}`,
});
