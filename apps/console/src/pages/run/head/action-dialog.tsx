import type { Run } from '@holdpoint/contract/wire';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { runs } from '../../../api/entities.ts';
import { ask } from '../../../api/request.ts';
import { Button, type IconName } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { isOver } from '../../../parts/is-over.ts';
import { ProblemNote } from '../../../parts/text.tsx';
import { useWhyNot } from '../../../session/session.tsx';
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

const icons: Partial<Record<Action, IconName>> = {
  pause: 'pause',
  resume: 'play',
  cancel: 'cross',
  retry: 'turn',
  fork: 'fork',
  undo: 'left',
  publish: 'out',
};

/** What a person can do with the run as it is. Each asks in a dialog: a run is not canceled by a slip. */
export function RunActions({ run }: ShownRun) {
  const [open, setOpen] = useState<Action>();
  return (
    <div className="row run-actions">
      {possible(run).map((action) => (
        <ActionButton key={action} action={action} onClick={() => setOpen(action)} />
      ))}
      {open !== undefined && <ActionDialog run={run} action={open} onClose={() => setOpen(undefined)} />}
    </div>
  );
}

function ActionButton({ action, onClick }: { action: Action; onClick: () => void }) {
  const { title, scope } = actions[action];
  const icon = icons[action];
  const whyNot = useWhyNot(scope);
  return (
    <Button
      slim
      kind={action === 'publish' ? 'main' : 'plain'}
      {...(icon && { icon })}
      whyNot={whyNot}
      onClick={onClick}
    >
      {title}
    </Button>
  );
}

function possible(run: ShownRun['run']): Action[] {
  const { status, planner, publication } = run;
  const talks = planner === 'model' && !isOver(run.status);
  const isIdle = ['none', 'failed', 'rejected', 'conflicted'].includes(publication.status);
  const canPublish = status === 'succeeded' && isIdle && !run.dry_run && run.workspace.snapshot !== run.workspace.base;
  const possible: [Action, boolean][] = [
    ['publish', canPublish],
    ['resume', status === 'paused'],
    ['say', talks],
    ['pause', status === 'running' || status === 'waiting' || status === 'queued'],
    ['retry', status === 'failed' || status === 'canceled' || status === 'paused'],
    ['undo', status === 'paused'],
    ['fork', run.workspace.snapshot !== null && publication.status !== 'discarded'],
    ['cancel', !isOver(run.status) && status !== 'canceling'],
  ];
  return possible.flatMap(([action, isPossible]) => (isPossible ? [action] : []));
}
