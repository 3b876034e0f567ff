import { attribute, type Meaning, note, open, runRecord, spanKeys, spanName } from '../meaning.ts';

export const messageReceived: Meaning<'message.received'> = {
  changes(state, { data }, { run, message }) {
    state.set(message(data.message_id), 'received');
    state.increase(run.messages);
  },
  span(trace, { data }) {
    trace.received += 1;
    note(trace, spanKeys.run(trace.life), 'message received');
    // A plan reads no messages.
    if (trace.planner !== 'model' || !trace.isAlive) return;
    trace.messages.set(trace.received, data.message_id);
    open(trace, data.message_id, {
      kind: 'wait',
      name: spanName.wait('message'),
      attributes: { [attribute.waitFor]: 'message' },
    });
  },
  audit: { record: runRecord },
};
