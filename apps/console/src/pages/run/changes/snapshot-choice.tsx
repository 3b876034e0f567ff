import type { Snapshot } from '@holdpoint/contract/wire';
import { useId } from 'react';

interface Props {
  label: string;
  /** The words for no choice. */
  none: string;
  value: string | undefined;
  all: readonly Snapshot[];
  onChoose: (id: string) => void;
}

/** A snapshot by the step that left it. */
export function SnapshotChoice({ label, none, value, all, onChoose }: Props) {
  const id = useId();
  return (
    <div className="snapshot-choice">
      <label htmlFor={id} className="small">
        {label}
      </label>
      <select id={id} value={value ?? ''} onChange={(event) => onChoose(event.target.value)}>
        <option value="">{none}</option>
        {value !== undefined && !all.some((snapshot) => snapshot.id === value) && (
          <option value={value}>{value}</option>
        )}
        {all.map((snapshot) => (
          <option key={snapshot.id} value={snapshot.id}>
            {nameOf(snapshot)}
          </option>
        ))}
      </select>
    </div>
  );
}

function nameOf({ step, task_id, undone, files_changed }: Snapshot): string {
  const changed = `${files_changed} ${files_changed === 1 ? 'file' : 'files'}`;
  if (step === null) return task_id === null ? `the source (${changed})` : `a background command (${changed})`;
  return `step ${step.number ?? 'undone'}: ${step.tool} (${changed})${undone ? ', undone' : ''}`;
}
