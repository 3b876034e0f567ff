import { Command } from 'commander';
import type { Shell } from '../../shell/index.ts';
import { diffRunCommand } from './diff.ts';
import { downloadRunCommand, listFilesCommand, listSnapshotsCommand, readFileCommand } from './files.ts';
import { forkRunCommand } from './fork.ts';
import { listRunsCommand, listStepsCommand, readValidationCommand, showRunCommand } from './inspect.ts';
import { readInstructionsCommand } from './instructions.ts';
import { markRunCommand } from './mark.ts';
import { publishRunCommand } from './publish.ts';
import { retryRunCommand, undoRunCommand } from './rewind.ts';
import { cancelRunCommand, discardRunCommand, pauseRunCommand, resumeRunCommand, sayToRunCommand } from './steer.ts';
import { listTurnsCommand } from './turns.ts';

export function runsGroup(shell: Shell): Command {
  const runs = new Command('runs').description('list, steer and publish runs');
  runs.addCommand(listRunsCommand(shell));
  runs.addCommand(showRunCommand(shell));
  runs.addCommand(listStepsCommand(shell, 'steps'));
  runs.addCommand(listTurnsCommand(shell));
  runs.addCommand(readInstructionsCommand(shell));
  runs.addCommand(cancelRunCommand(shell));
  runs.addCommand(pauseRunCommand(shell));
  runs.addCommand(resumeRunCommand(shell));
  runs.addCommand(retryRunCommand(shell));
  runs.addCommand(sayToRunCommand(shell));
  runs.addCommand(undoRunCommand(shell));
  runs.addCommand(forkRunCommand(shell));
  runs.addCommand(listSnapshotsCommand(shell));
  runs.addCommand(listFilesCommand(shell));
  runs.addCommand(readFileCommand(shell));
  runs.addCommand(downloadRunCommand(shell));
  runs.addCommand(diffRunCommand(shell));
  runs.addCommand(publishRunCommand(shell));
  runs.addCommand(readValidationCommand(shell));
  runs.addCommand(discardRunCommand(shell));
  runs.addCommand(markRunCommand(shell));
  return runs;
}
