import type { Run } from '@holdpoint/contract/wire';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { runs } from '../../../api/entities.ts';
import { ask } from '../../../api/request.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { ProblemNote } from '../../../parts/problem-note.tsx';
import { runPath, type ShownRun } from '../shown-run.ts';
import { type Action, actions } from './actions.ts';

interface Props extends ShownRun {
  action: Action;
  /** The step that the page shows. */
  step?: string | undefined;
  onClose: () => void;
}

/** Asks for what the action needs, sends it once, and shows a refusal where it was asked. */
export function ActionDialog({ run, action, step, onClose }: Props) {
  const { title, says, path, fields, danger, body } = actions[action];
  const [key] = useState(() => crypto.randomUUID());
  const [, go] = useLocation();
  const queries = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const sending = useMutation({
    mutationFn: (given: FormData) =>
      ask<Partial<Run>>({
        method: 'POST',
        path: runPath(run.id, path),
        body: body(given, run),
        idempotencyKey: action === 'fork' || action === 'say' ? key : undefined,
      }),
    onSuccess: (answer) => {
      if (isRun(answer)) runs.put([answer]);
      void queries.invalidateQueries({ queryKey: ['run', run.id] });
      onClose();
      if (action === 'fork' && isRun(answer)) go(`/runs/${answer.id}`);
    },
  });
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!sending.isPending) sending.mutate(new FormData(event.currentTarget));
  };
  return (
    <Dialog title={`${title} this run`} onClose={onClose} onConfirm={() => form.current?.requestSubmit()}>
      <p className="muted">{says}</p>
      <form ref={form} className="stack" onSubmit={send}>
        {fields.map((field) => (
          <Field key={field.name} {...field} initial={field.kind === 'step' ? step : undefined} />
        ))}
        {sending.error && <ProblemNote error={sending.error} />}
        <div className="dialog-foot">
          <Button onClick={onClose}>Back</Button>
          <Button
            type="submit"
            kind={danger ? 'danger main' : 'main'}
            whyNot={sending.isPending ? 'Being sent' : undefined}
          >
            {title}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

type FieldProps = (typeof actions)[Action]['fields'][number] & { initial: string | undefined };

function Field({ name, label, hint, kind, isRequired = false, initial }: FieldProps) {
  const id = useId();
  const hintId = `${id}-hint`;
  const common = { id, name, required: isRequired, 'aria-describedby': hint === undefined ? undefined : hintId };
  if (kind === 'check') {
    return (
      <div>
        <label className="check">
          <input type="checkbox" {...common} /> {label}
        </label>
        {hint !== undefined && (
          <p id={hintId} className="muted small">
            {hint}
          </p>
        )}
      </div>
    );
  }
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {kind === 'long' ? (
        <textarea rows={5} {...common} />
      ) : (
        <input type="text" autoComplete="off" defaultValue={initial} {...common} />
      )}
      {hint !== undefined && (
        <p id={hintId} className="hint">
          {hint}
        </p>
      )}
    </div>
  );
}

const isRun = (answer: Partial<Run> | undefined): answer is Run =>
  typeof answer?.id === 'string' && typeof answer.seq === 'number' && answer.usage !== undefined;
