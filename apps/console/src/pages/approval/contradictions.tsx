import type { Approval } from '@holdpoint/contract/wire';
import { Note } from '../../parts/note.tsx';
import { Text } from '../../parts/text.tsx';
import { Ago } from '../../parts/time.tsx';

/** The remembered rules about the call that say the opposite of a decision. */
export function Contradictions({ approval, decision }: { approval: Approval; decision: 'approve' | 'reject' }) {
  const others = (approval.remembered ?? []).filter((rule) => rule.decision !== decision);
  if (others.length === 0) return null;
  return (
    <Note tone="warn" title="Another remembered rule says the opposite: a rejection wins">
      <ul className="names">
        {others.map(({ rule_id, decision: other, created_by, created_at, scope }) => (
          <li key={rule_id}>
            <code>{rule_id}</code> {other === 'approve' ? 'approves' : 'rejects'} this very call{' '}
            {scope === 'run' ? 'in this run' : 'in all runs'}: by <Text>{created_by}</Text>, <Ago at={created_at} />
          </li>
        ))}
      </ul>
    </Note>
  );
}
