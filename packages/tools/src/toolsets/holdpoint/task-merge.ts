import { z } from 'zod';
import { failure } from '../../operations/cut-short.ts';
import { renderMerge } from '../../result-text/task-state.ts';
import { builtInTool } from '../built-in-tool.ts';

export const taskMerge = builtInTool({
  name: 'task_merge',
  description: `Brings the changes of a sub-agent into this workspace, by a three-way merge with the changes made here since: all of them or none. The result lists the merged paths. Sockets, pipes and devices cannot be merged. ECONFLICT names the files that both sides changed in the same place; resolve them here, or give the work to a new sub-agent on the current workspace.`,
  effect: 'workspace',
  risk: 'medium',
  input: z.strictObject({ task_id: z.string().min(1).describe('The id of a completed task') }),
  render: renderMerge,
  async preview({ tasks }, { task_id }) {
    const found = await tasks.previewMerge(task_id);
    if (found.status === 'refused') return { kind: 'problem', message: found.problem.message };
    const { status, ...shown } = found;
    return { kind: 'merge', task_id, ...shown };
  },
  async execute(context, { task_id }) {
    const merged = await context.tasks.merge(task_id);
    switch (merged.status) {
      case 'merged':
        return {
          status: 'succeeded',
          value: { task_id, paths: merged.paths, ...(merged.left_out?.length && { left_out: merged.left_out }) },
          touched: merged.paths,
        };
      case 'conflict': {
        const files = merged.conflicts.map(({ path }) => path).join(', ');
        return {
          ...failure(
            'ECONFLICT',
            `Nothing was merged: both sides changed ${files}.`,
            'Read the sub-agent’s message and make its changes to these files yourself.',
            {
              task_id,
              conflicts: merged.conflicts,
            },
          ),
          touched: [],
        };
      }
      case 'refused':
        return { status: 'failed', error: merged.problem, touched: [] };
      default:
        return merged satisfies never;
    }
  },
});
