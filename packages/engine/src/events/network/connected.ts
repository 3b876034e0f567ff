import { connected, learnHost, type Meaning, networkOf, noChange } from '../meaning.ts';

export const networkConnected: Meaning<'network.connected'> = {
  changes: noChange,
  span: (trace, { step_id, data: { attempt, verdict, bytes_up, bytes_down } }) =>
    connected(trace, step_id, attempt, [{ verdict, connections: 1, bytes_up, bytes_down }]),
  audit: {
    learn: (facts, { step_id, data }) => learnHost(networkOf(facts, step_id), { ...data, connections: 1 }),
  },
};
