import type { StepSummary, Task } from '@holdpoint/contract/wire';
import { memo } from 'react';
import { Link } from 'wouter';
import { spanText } from '../../../parts/span-text.ts';
import { StepStatus } from '../../../parts/status.tsx';
import { Text } from '../../../parts/text.tsx';
import { needsLook } from './needs-look.ts';

interface Props {
  runId: string;
  step: StepSummary;
  /** The background task that the step started. */
  task: Task | undefined;
}

/** One step in a line: it opens its page. */
export const StepRow = memo(function StepRow({ runId, step, task }: Props) {
  const { started_at: from, settled_at: to } = step;
  return (
    <div className="step-row">
      <span className="numbers muted small step-number">{step.number ?? '—'}</span>
      <Link
        href={`/runs/${runId}/steps/${step.id}`}
        className="step-link"
        data-row=""
        data-failed={needsLook(step) ? '' : undefined}
      >
        <span className="mono step-tool">
          <Text>{step.tool}</Text>
        </span>
        <span className="one-line step-title">
          <Text>{step.title}</Text>
        </span>
      </Link>
      <span className="step-facts">
        {task?.child != null && (
          <Link className="small" href={`/runs/${task.child.run_id}`}>
            sub-agent
          </Link>
        )}
        {step.error !== null && (
          <code className="small step-error">
            <Text>{step.error}</Text>
          </code>
        )}
        {step.effect === 'external' && <span className="muted small">external</span>}
        {from !== null && to !== null && (
          <span className="muted small numbers">{spanText(Date.parse(to) - Date.parse(from))}</span>
        )}
        <StepStatus status={step.status} />
      </span>
    </div>
  );
});
