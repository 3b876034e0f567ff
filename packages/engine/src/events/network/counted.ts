import { connected, learnHost, type Meaning, networkOf, noChange } from '../meaning.ts';

export const networkCounted: Meaning<'network.counted'> = {
  changes: noChange,
  span: (trace, { step_id, data: { attempt, counts } }) => connected(trace, step_id, attempt, counts),
  audit: {
    learn(facts, { step_id, data }) {
      for (const count of data.counts) learnHost(networkOf(facts, step_id), count);
    },
  },
};
