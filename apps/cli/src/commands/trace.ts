import { criticalPath, timeSpent } from '@holdpoint/contract/time-spent';
import type { Command } from 'commander';
import { type ApiOptions, apiCommand, type Shell } from '../shell/index.ts';
import { readWholeTrace, traceText } from '../trace/trace-text.ts';

export const traceCommand = (shell: Shell): Command =>
  apiCommand('trace', 'show where the time of a run went: its spans as a tree, from its log')
    .argument('<run>', 'id of the run')
    .option('--all', 'every span, also short ones of a long run')
    .action(async (runId: string, { url, json, all = false }: ApiOptions & { all?: boolean }) => {
      const trace = await readWholeTrace(await shell.connect(url), runId);
      const now = Date.now();
      if (json) {
        const { total, spent } = timeSpent(trace.spans, now);
        const path = criticalPath(trace.spans, now);
        const critical_path = trace.spans.flatMap(({ span_id }) => (path.has(span_id) ? [span_id] : []));
        return shell.printJson({ ...trace, total_ms: total, spent_ms: spent, critical_path });
      }
      const { width, colors } = shell;
      for (const line of traceText(trace, { width, colors, now, all })) shell.print(line);
    });
