import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useId } from 'react';
import { ProblemNote } from '../parts/problem-note.tsx';
import { canGetPushes, getsPushes, startPushes, stopPushes } from './push-device.ts';

const key = ['pushes'];

/** Turns notifications of approvals and ends of runs on and off, for this device. */
export function PushSwitch() {
  const id = useId();
  const queries = useQueryClient();
  const isOn = useQuery({ queryKey: key, queryFn: getsPushes, enabled: canGetPushes(), retry: false });
  const change = useMutation({
    mutationFn: (on: boolean) => (on ? startPushes() : stopPushes()),
    onSettled: () => queries.invalidateQueries({ queryKey: key }),
  });
  if (!canGetPushes())
    return <p className="muted">This browser gets no notifications. On a phone, install the page first.</p>;
  return (
    <>
      <label className="check" htmlFor={id}>
        <input
          id={id}
          type="checkbox"
          checked={isOn.data === true}
          disabled={isOn.isPending || change.isPending}
          onChange={({ target }) => change.mutate(target.checked)}
        />
        Notify this device of approvals and ends of runs
      </label>
      {change.error !== null && <ProblemNote error={change.error} />}
    </>
  );
}
