import type { Approval, Run, StepSummary } from '@holdpoint/contract/wire';
import type { IconName } from './button.tsx';
import { Badge, type Tone } from './note.tsx';

type Look = [Tone, IconName, string];

const runs: Record<Run['status'], Look> = {
  queued: ['quiet', 'clock', 'in line'],
  running: ['info', 'play', 'running'],
  waiting: ['warn', 'hold', 'waiting'],
  paused: ['warn', 'pause', 'paused'],
  canceling: ['quiet', 'cross', 'canceling'],
  canceled: ['quiet', 'cross', 'canceled'],
  succeeded: ['good', 'check', 'succeeded'],
  failed: ['bad', 'alert', 'failed'],
};

const steps: Record<StepSummary['status'], Look> = {
  pending: ['quiet', 'ring', 'pending'],
  parked: ['warn', 'hold', 'held'],
  queued: ['quiet', 'clock', 'queued'],
  running: ['info', 'play', 'running'],
  deferred: ['quiet', 'clock', 'waits for a task'],
  succeeded: ['good', 'check', 'succeeded'],
  failed: ['bad', 'alert', 'failed'],
  killed: ['bad', 'cross', 'killed'],
  timed_out: ['bad', 'clock', 'timed out'],
  rejected: ['quiet', 'cross', 'rejected'],
  expired: ['quiet', 'clock', 'expired'],
  canceled: ['quiet', 'cross', 'canceled'],
  indeterminate: ['bad', 'question', 'indeterminate'],
  undone: ['quiet', 'turn', 'undone'],
};

const approvals: Record<Approval['status'], Look> = {
  pending: ['warn', 'hold', 'waits for a decision'],
  approved: ['good', 'check', 'approved'],
  edited: ['good', 'check', 'approved with an edit'],
  rejected: ['bad', 'cross', 'rejected'],
  responded: ['info', 'check', 'answered'],
  expired: ['quiet', 'clock', 'expired'],
  canceled: ['quiet', 'cross', 'withdrawn'],
};

const risks: Record<Approval['risk'], Look> = {
  low: ['quiet', 'shield', 'low risk'],
  medium: ['warn', 'shield', 'medium risk'],
  high: ['bad', 'alert', 'high risk'],
};

const shown = ([tone, icon, word]: Look) => (
  <Badge tone={tone} icon={icon}>
    {word}
  </Badge>
);

export const RunStatus = ({ status }: { status: Run['status'] }) => shown(runs[status]);
export const StepStatus = ({ status }: { status: StepSummary['status'] }) => shown(steps[status]);
export const ApprovalStatus = ({ status }: { status: Approval['status'] }) => shown(approvals[status]);
export const Risk = ({ risk }: { risk: Approval['risk'] }) => shown(risks[risk]);
