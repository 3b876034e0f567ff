import type {
  ApprovalStatus,
  DecisionKind,
  ForkedFrom,
  PublicationStatus,
  RunEvent,
  RunStatus,
  StepStatus,
  TaskStatus,
} from '@holdpoint/contract';
import { approvalField, runField, stepField, taskField } from './fields.ts';
import { heads } from './heads.ts';

/** What events do to the state hash. `set` wins over what was there; `add` is an increment of an integer field, absent = 0. */
export interface Changes {
  set: Record<string, string>;
  add: Record<string, number>;
}

/** The changes of one event. Pure, and the only place which says what an event means for the state: appending and folding both use it. */
export function changesOf(event: RunEvent): Changes {
  const changes = meaningOf(event);
  changes.add[runField.seq] = 1;
  return changes;
}

/** The changes of several events in their order, as one. */
export function mergeChanges(all: readonly Changes[]): Changes {
  const merged: Changes = { set: {}, add: {} };
  for (const { set, add } of all) {
    for (const [field, value] of Object.entries(set)) {
      merged.set[field] = value;
      delete merged.add[field];
    }
    for (const [field, by] of Object.entries(add)) {
      const base = merged.set[field];
      if (base === undefined) merged.add[field] = (merged.add[field] ?? 0) + by;
      else merged.set[field] = String(Number(base) + by);
    }
  }
  return merged;
}

function meaningOf(event: RunEvent): Changes {
  switch (event.type) {
    case 'run.created':
      return set({
        [runField.status]: status('queued'),
        [runField.spec]: JSON.stringify(event.data.spec),
        [runField.header]: JSON.stringify({
          title: event.data.title,
          toolset: event.data.toolset,
          planner: event.data.planner,
          model: event.data.model,
          labels: event.data.labels,
          ...(event.data.priority === undefined ? {} : { priority: event.data.priority }),
        }),
        [runField.createdAt]: event.time,
        [runField.turn]: '0',
        [runField.turnSteps]: '[]',
        [runField.open]: '0',
        [runField.parked]: '0',
        ...(event.data.tools === undefined ? {} : { [runField.tools]: JSON.stringify(event.data.tools) }),
        [runField.publication]: publication('none'),
        ...(event.data.forked_from === undefined ? {} : inherited(event.data.forked_from)),
        ...(event.data.parent === undefined ? {} : { [runField.parent]: JSON.stringify(event.data.parent) }),
      });
    case 'run.started':
      return {
        set: { [runField.status]: status('running'), [runField.startedAt]: event.time },
        add: clock('starts', event.time),
      };
    case 'run.waiting':
      return { set: { [runField.status]: status('waiting') }, add: clock('stops', event.time) };
    case 'run.resumed': {
      const { used, tools, after } = event.data;
      return {
        set: {
          [runField.status]: status(event.data.status),
          ...(after === 'approval' || after === 'task' ? {} : { [runField.reason]: '', [runField.repetition]: '' }),
          ...(after === 'end' ? { [runField.endedAt]: '', [runField.message]: '' } : {}),
          ...(used === undefined ? {} : { [runField.budgetFrom]: JSON.stringify(used) }),
          ...(tools === undefined ? {} : { [runField.tools]: JSON.stringify(tools) }),
        },
        add: event.data.status === 'running' ? clock('starts', event.time) : {},
      };
    }
    case 'run.extended':
      return set({ [runField.budgetFrom]: JSON.stringify(event.data.used) });
    case 'run.paused':
      return {
        set: { [runField.status]: status('paused'), [runField.reason]: JSON.stringify(event.data.reason) },
        add: event.data.from === 'running' ? clock('stops', event.time) : {},
      };
    case 'run.rewound': {
      const { turn, steps, open, snapshot, undone, lost_tasks = [] } = event.data;
      const fields: Record<string, string> = {
        [runField.turn]: String(turn),
        [runField.turnSteps]: JSON.stringify(steps),
        [runField.open]: String(open),
        [runField.snapshot]: snapshot,
        [runField.restore]: 'due',
        [runField.writer]: '',
        [runField.closing]: '',
      };
      for (const id of lost_tasks) {
        fields[taskField(id, 'status')] = taskStatus('lost');
        fields[taskField(id, 'outcome')] = JSON.stringify({ status: 'lost', exit_code: null, reason: takenBack });
      }
      for (const { id, name } of undone) {
        fields[stepField(id, 'status')] = stepStatus('undone');
        if (name !== undefined) fields[runField.named(name)] = '';
      }
      return set(fields);
    }
    case 'run.forked':
      return { set: { [runField.fork(event.data.child)]: event.data.snapshot }, add: { [runField.forks]: 1 } };
    case 'run.closing':
      return set({ [runField.closing]: JSON.stringify(event.data) });
    case 'run.canceling':
      return {
        set: { [runField.status]: status('canceling') },
        add: event.data.from === 'running' ? clock('stops', event.time) : {},
      };
    case 'run.canceled':
      // What a killed step left in the tree stays there: whoever makes the run go on makes a new one first.
      return set({
        [runField.status]: status('canceled'),
        [runField.endedAt]: event.time,
        [runField.writer]: '',
      });
    case 'run.succeeded':
      return {
        set: {
          [runField.status]: status('succeeded'),
          [runField.endedAt]: event.time,
          [runField.message]: event.data.message,
          [runField.closing]: '',
        },
        add: clock('stops', event.time),
      };
    case 'run.failed':
      return {
        set: {
          [runField.status]: status('failed'),
          [runField.endedAt]: event.time,
          [runField.reason]: JSON.stringify(event.data.reason),
          [runField.closing]: '',
        },
        add: clock('stops', event.time),
      };
    case 'turn.planned': {
      const { turn, steps, usage, repetition, messages_read } = event.data;
      return {
        set: {
          [runField.turn]: String(turn),
          [runField.turnSteps]: JSON.stringify(steps),
          [runField.open]: String(steps.length),
          ...(repetition === undefined ? {} : { [runField.repetition]: JSON.stringify(repetition) }),
          ...(messages_read === undefined ? {} : { [runField.messagesRead]: String(messages_read) }),
        },
        add:
          usage === undefined
            ? {}
            : {
                [runField.inputTokens]: usage.input_tokens,
                [runField.outputTokens]: usage.output_tokens,
                ...(usage.cost_micros === undefined ? {} : { [runField.cost]: usage.cost_micros }),
              },
      };
    }
    case 'message.received':
      return { set: { [event.data.message_id]: 'received' }, add: { [runField.messages]: 1 } };
    case 'step.created': {
      const { args, ...call } = event.data;
      return counted({
        [stepField(event.step_id, 'call')]: JSON.stringify(call),
        [stepField(event.step_id, 'args')]: JSON.stringify(args),
        [stepField(event.step_id, 'effect')]: event.data.effect,
        [stepField(event.step_id, 'status')]: stepStatus('pending'),
        [stepField(event.step_id, 'attempt')]: '0',
        [stepField(event.step_id, 'created_at')]: event.time,
        ...(event.data.name === undefined ? {} : { [runField.named(event.data.name)]: event.step_id }),
      });
    }
    case 'step.queued':
      return set({
        [stepField(event.step_id, 'status')]: stepStatus('queued'),
        ...(event.data.args === undefined
          ? {}
          : { [stepField(event.step_id, 'args')]: JSON.stringify(event.data.args) }),
        ...(event.data.effect === undefined ? {} : { [stepField(event.step_id, 'effect')]: event.data.effect }),
      });
    case 'step.started':
      return set({
        [stepField(event.step_id, 'status')]: stepStatus('running'),
        [stepField(event.step_id, 'attempt')]: String(event.data.attempt),
        [stepField(event.step_id, 'started_at')]: event.time,
        [stepField(event.step_id, 'worker')]: event.data.worker,
        ...(event.data.writes
          ? {
              [runField.writer]: event.step_id,
              [runField.head]: heads.attempt(event.step_id, event.data.attempt),
            }
          : {}),
      });
    case 'step.deferred': {
      const { until, task_id, begins } = event.data;
      return set({
        [stepField(event.step_id, 'status')]: stepStatus('deferred'),
        [stepField(event.step_id, 'deferred')]: JSON.stringify({ until, task_id, begins }),
      });
    }
    case 'step.retried':
      return {
        set: { [stepField(event.step_id, 'status')]: stepStatus('queued'), ...restoring(event.data.restore) },
        add: { [stepField(event.step_id, 'interruptions')]: 1 },
      };
    case 'step.indeterminate':
      return set({
        [stepField(event.step_id, 'status')]: stepStatus('indeterminate'),
        ...restoring(event.data.restore),
      });
    case 'step.succeeded':
    case 'step.failed':
    case 'step.killed':
    case 'step.timed_out':
    case 'step.rejected':
    case 'step.expired':
    case 'step.canceled': {
      const { value, error, attempt, duration_ms, inherited_from, decided } = event.data;
      return {
        set: {
          [stepField(event.step_id, 'status')]: stepStatus(settledStatus[event.type]),
          [stepField(event.step_id, 'outcome')]: JSON.stringify({
            ...{ attempt, value, error, duration_ms, inherited_from, decided },
          }),
          [stepField(event.step_id, 'settled_at')]: event.time,
          ...restoring(event.data.restore),
        },
        add: { [runField.open]: -1 },
      };
    }
    case 'approval.requested': {
      const { approval_id, snapshot, ...request } = event.data;
      const before = request.changed?.approval_id;
      const { step_id } = event;
      const parking =
        step_id === undefined
          ? { [runField.publication]: publication('parked'), [runField.publishApproval]: approval_id }
          : {
              [stepField(step_id, 'approval')]: approval_id,
              ...(request.kind === 'indeterminate' ? {} : { [stepField(step_id, 'status')]: stepStatus('parked') }),
            };
      return {
        set: {
          [approvalField(approval_id, 'request')]: JSON.stringify({
            ...request,
            ...(step_id === undefined ? {} : { step_id }),
            requested_at: event.time,
          }),
          [approvalField(approval_id, 'status')]: approvalStatus('pending'),
          ...(before === undefined ? {} : { [approvalField(before, 'superseded')]: approval_id }),
          ...parking,
        },
        add: { [runField.parked]: 1 },
      };
    }
    case 'approval.decided': {
      const { approval_id, snapshot, writes, ...decision } = event.data;
      return {
        set: {
          ...(event.step_id === undefined ? {} : { [stepField(event.step_id, 'approved_snapshot')]: snapshot }),
          ...(event.step_id !== undefined && writes ? { [runField.writer]: event.step_id } : {}),
          [approvalField(approval_id, 'status')]: approvalStatus(approvalAfter[event.data.decision]),
          [approvalField(approval_id, 'decision')]: JSON.stringify({ ...decision, decided_at: event.time }),
        },
        add: { [runField.parked]: -1 },
      };
    }
    case 'approval.expired':
    case 'approval.canceled':
      return {
        set: {
          [approvalField(event.data.approval_id, 'status')]: approvalStatus(
            event.type === 'approval.expired' ? 'expired' : 'canceled',
          ),
        },
        add: { [runField.parked]: -1 },
      };
    case 'task.created': {
      const { task_id, ...about } = event.data;
      return {
        set: {
          [taskField(task_id, 'status')]: taskStatus('queued'),
          [taskField(task_id, 'about')]: JSON.stringify({ step_id: event.step_id, ...about }),
          [taskField(task_id, 'created_at')]: event.time,
          [stepField(event.step_id, 'task')]: task_id,
        },
        add: { [runField.openTasks]: 1, ...(about.kind === 'agent' ? { [runField.agents]: 1 } : {}) },
      };
    }
    case 'task.started': {
      const { task_id, worker, epoch } = event.data;
      return {
        set: {
          [taskField(task_id, 'status')]: taskStatus('running'),
          [taskField(task_id, 'worker')]: worker,
          [taskField(task_id, 'started_at')]: event.time,
          ...(epoch === undefined
            ? {}
            : { [taskField(task_id, 'epoch')]: String(epoch), [runField.head]: heads.task(task_id) }),
        },
        add: epoch === undefined ? {} : { [runField.uncaptured]: 1 },
      };
    }
    case 'task.kill_requested':
      return set({ [taskField(event.data.task_id, 'kill')]: event.data.by });
    case 'task.exited': {
      const { task_id, ...outcome } = event.data;
      return set({
        [taskField(task_id, 'status')]: taskStatus('capturing'),
        [taskField(task_id, 'outcome')]: JSON.stringify(outcome),
      });
    }
    case 'task.ended': {
      const { task_id, status: ended, restore, total, ...outcome } = event.data;
      return {
        set: {
          [taskField(task_id, 'status')]: taskStatus(ended),
          [taskField(task_id, 'outcome')]: JSON.stringify({ status: ended, ...outcome }),
          [taskField(task_id, 'ended_at')]: event.time,
          ...(total === undefined ? {} : { [runField.agentsTotal]: JSON.stringify(total) }),
          ...restoring(restore),
        },
        add: { [runField.openTasks]: -1 },
      };
    }
    case 'task.used':
    case 'task.waiting':
    case 'task.resumed': {
      const { task_id, report, total } = event.data;
      return set({
        [taskField(task_id, 'report')]: JSON.stringify(report),
        [runField.agentsTotal]: JSON.stringify(total),
      });
    }
    case 'task.reserved':
      return set({ [runField.reserved(event.data.for_step)]: event.data.task_id });
    case 'run.repaired':
    case 'network.connected':
    case 'network.counted':
    case 'workspace.progress':
      return set({});
    case 'workspace.leased':
      return set({
        [runField.lease]: String(event.data.epoch),
        [runField.head]: '',
        [runField.uncaptured]: '0',
      });
    case 'workspace.held':
      return set({ [runField.writer]: event.data.task_id });
    case 'workspace.captured':
      return {
        set: { [runField.snapshot]: event.data.snapshot, [runField.writer]: '' },
        add: { [runField.uncaptured]: -1 },
      };
    case 'workspace.drifted':
      return set({ [runField.snapshot]: event.data.snapshot, [runField.writer]: '' });
    case 'workspace.validating':
      return set({
        [runField.validating]: event.data.snapshot,
        [runField.head]: heads.validators(event.data.snapshot),
      });
    case 'workspace.materialised': {
      const { snapshot, base = snapshot } = event.data;
      return set({ [runField.snapshot]: snapshot, [runField.base]: base, [runField.lease]: '1', [runField.head]: '' });
    }
    case 'workspace.snapshotted':
      return set({
        [runField.snapshot]: event.data.snapshot,
        [stepField(event.step_id, 'snapshot')]: event.data.snapshot,
        [runField.writer]: '',
      });
    case 'workspace.distrusted':
      return set(restoring(true));
    case 'workspace.restored':
      return set({ [runField.restore]: '' });
    case 'workspace.publish_requested': {
      const { by, ...request } = event.data;
      return set({
        [runField.publication]: publication('requested'),
        [runField.publishRequest]: JSON.stringify(request),
        [runField.publishRelease]: '',
        [runField.validated]: '',
        [runField.validating]: '',
        [runField.publicationDetail]: '',
      });
    }
    case 'workspace.validated':
      return set({ [runField.validated]: JSON.stringify(event.data), [runField.validating]: '' });
    case 'workspace.publish_released':
      return set({
        [runField.publication]: publication('requested'),
        [runField.publishRelease]: JSON.stringify(event.data),
        [runField.publicationDetail]: '',
      });
    case 'workspace.publish_rejected':
      return set({
        [runField.publication]: publication('rejected'),
        [runField.publicationDetail]: JSON.stringify({ reason: event.data.reason }),
      });
    case 'workspace.publish_failed':
      return set({
        [runField.publication]: publication('failed'),
        [runField.publicationDetail]: JSON.stringify({ reason: event.data.reason }),
      });
    case 'workspace.published':
      return set({
        [runField.publication]: publication('published'),
        [runField.publicationDetail]: JSON.stringify({ published: event.data.published }),
      });
    case 'workspace.conflicted':
      return set({
        [runField.publication]: publication('conflicted'),
        [runField.publicationDetail]: JSON.stringify({ conflicts: event.data.conflicts }),
      });
    case 'workspace.discard_requested':
      return set({ [runField.publication]: publication('discarding') });
    case 'workspace.discarded':
      return set({ [runField.publication]: publication('discarded'), [runField.restore]: '' });
    default:
      return event satisfies never;
  }
}

const takenBack = {
  code: 'ETASKLOST',
  message: 'It had ended, and what it changed was taken back by an undo.',
  next: 'Begin it again if it is still needed.',
};

const settledStatus = {
  'step.succeeded': 'succeeded',
  'step.failed': 'failed',
  'step.killed': 'killed',
  'step.timed_out': 'timed_out',
  'step.rejected': 'rejected',
  'step.expired': 'expired',
  'step.canceled': 'canceled',
} as const satisfies Record<string, StepStatus>;

const approvalAfter = {
  approve: 'approved',
  edit: 'edited',
  reject: 'rejected',
  respond: 'responded',
} as const satisfies Record<DecisionKind, ApprovalStatus>;

/** A fork begins where it left the other run. */
const inherited = (from: ForkedFrom): Record<string, string> => ({
  [runField.turn]: String(from.turn),
  [runField.budgetFrom]: JSON.stringify({
    turn: from.turn,
    steps: 0,
    active_ms: 0,
    tokens: 0,
    cost_micros: 0,
    agents: 0,
  }),
  [runField.forkedFrom]: JSON.stringify(from),
  ...Object.fromEntries(Object.entries(from.names).map(([name, id]) => [runField.named(name), id])),
});

const set = (fields: Record<string, string>): Changes => ({ set: fields, add: {} });
const counted = (fields: Record<string, string>): Changes => ({ set: fields, add: { [runField.steps]: 1 } });

/** Whoever wrote to the tree is taken for gone; it is made anew from the snapshot in the log. */
const restoring = (restore: true | undefined): Record<string, string> =>
  restore ? { [runField.restore]: 'due', [runField.writer]: '' } : {};

/** The sum of all ends less that of all beginnings is the time between them. */
const clock = (what: 'starts' | 'stops', time: string): Record<string, number> => ({
  [runField.activeMs]: Date.parse(time) * (what === 'starts' ? -1 : 1),
});

// Identity functions that make the compiler check each literal against its vocabulary.
const status = (value: RunStatus): string => value;
const stepStatus = (value: StepStatus): string => value;
const taskStatus = (value: TaskStatus): string => value;
const approvalStatus = (value: ApprovalStatus): string => value;
const publication = (value: PublicationStatus): string => value;
