import { add, attribute, type Meaning, noAudit, noChange, note, spanKeys } from '../meaning.ts';

export const runRepaired: Meaning<'run.repaired'> = {
  changes: noChange,
  span(trace, { seq, data }) {
    const attributes = { [attribute.repairClass]: data.class };
    const subject = [data.subject, spanKeys.run(trace.life), spanKeys.publish(trace.publishes)];
    const key = subject.find((key) => key !== undefined && trace.open.has(key));
    if (key !== undefined) return note(trace, key, 'run repaired', attributes);
    add(trace, spanKeys.at('repair', seq), { kind: 'workspace', name: 'workspace repair', attributes });
  },
  audit: noAudit,
};
