import type { Snapshot } from '@holdpoint/contract/wire';
import type { Command } from 'commander';
import { nameText } from '../../output/name-text.ts';
import { table } from '../../output/table.ts';
import { ago } from '../../output/time.ts';
import type { Shell } from '../../shell.ts';
import { type ApiOptions, apiCommand } from '../options.ts';

export function listSnapshotsCommand(shell: Shell): Command {
  return apiCommand('snapshots', 'list the snapshots of a run, oldest first')
    .argument('<run>', 'id of the run')
    .action(async (runId: string, { url, json }: ApiOptions) => {
      const snapshots = await (await shell.connect(url)).listSnapshots(runId);
      if (json) return shell.printJson({ data: snapshots });
      const now = Date.now();
      const rows = snapshots.map((snapshot) => rowOf(snapshot, now));
      for (const line of table(['SNAPSHOT', 'STEP', 'AFTER', 'CHANGED', 'TAKEN', ''], rows)) shell.print(line);
    });
}

function rowOf({ id, parent, step, task_id, files_changed, time, current, undone }: Snapshot, now: number): string[] {
  const other = parent === null ? 'the beginning' : 'background commands';
  return [
    id,
    parent === null ? '0' : (step?.number?.toString() ?? '-'),
    step === null ? (task_id ?? other) : nameText(step.tool),
    files_changed === 1 ? '1 file' : `${files_changed} files`,
    ago(time, now),
    current ? '<- here' : undone ? 'undone' : '',
  ];
}
