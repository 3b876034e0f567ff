import type { Approval, Run } from '@holdpoint/contract/wire';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { approvals, runs } from './entities.ts';

it('keeps the newest state of a run, whatever order the answers and the stream come in', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray([1, 2, 3, 4, 5, 6], { minLength: 1 }), (seqs) => {
      const id = crypto.randomUUID();
      for (const seq of seqs) runs.put([{ id, seq } as Run]);
      expect(runs.get(id)?.seq).toBe(Math.max(...seqs));
    }),
  );
});

it('never goes back from a decision to waiting', () => {
  const id = crypto.randomUUID();
  const states: Approval['status'][] = [];
  approvals.listen(id, () => states.push(approvals.get(id)?.status ?? 'pending'));
  for (const status of ['pending', 'approved', 'pending'] as const) approvals.put([{ id, status } as Approval]);
  expect(states).toEqual(['pending', 'approved']);
});

it('keeps the remembered rules of a page when a list, which looks up none, comes later', () => {
  const id = crypto.randomUUID();
  approvals.put([{ id, status: 'pending', remembered: [{ rule_id: 'rule_1' }] } as Approval]);
  approvals.put([{ id, status: 'approved', remembered: null } as Approval]);
  expect(approvals.get(id)).toMatchObject({ status: 'approved', remembered: [{ rule_id: 'rule_1' }] });
  approvals.put([{ id, status: 'approved', remembered: [] as unknown } as Approval]);
  expect(approvals.get(id)?.remembered).toEqual([]);
});
