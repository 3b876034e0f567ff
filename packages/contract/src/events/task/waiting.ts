import { type AgentReport, event, problemText, type Words } from '../event.ts';
import { report } from './used.ts';

export const taskWaiting = event('task.waiting', {
  data: report,
  line: ({ data }, words) => `${data.task_id} ${blockageText(data.report, words)}`,
  tone: 'warning',
});

const blockageText = ({ approvals, paused, blocker }: AgentReport, { counted }: Words): string =>
  [
    ...(approvals > 0 ? [`${counted(approvals, 'approval')} open`] : []),
    ...(paused > 0
      ? [`${paused} paused${blocker === undefined ? '' : ` (${blocker.run_id} ${problemText(blocker.reason)})`}`]
      : []),
  ].join(', ');
