import { compactionSchema, event } from '../event.ts';

export const contextCompacted = event('context.compacted', {
  data: compactionSchema.shape,
  line({ data: { how, through_turn, tokens_before, tokens_after } }) {
    const what = how === 'summarised' ? 'turns summarised' : 'results cut';
    return `${what} up to turn ${through_turn}: about ${tokens_before} tokens became ${tokens_after}`;
  },
});
