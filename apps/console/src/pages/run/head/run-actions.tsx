import { useState } from 'react';
import { Button, type IconName } from '../../../parts/button.tsx';
import { isOver } from '../../../parts/is-over.ts';
import { useWhyNot } from '../../../session/session.tsx';
import type { ShownRun } from '../shown-run.ts';
import { ActionDialog } from './action-dialog.tsx';
import { type Action, actions } from './actions.ts';

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
