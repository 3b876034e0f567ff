import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A git that writes down each of its starts, one line each. Its path is the option `gitPath` of workspaces. */
export interface CountingGit {
  readonly gitPath: string;
  /** The arguments of each program since the last call. */
  started(): string[];
}

export function countingGit(folder: string): CountingGit {
  const [gitPath, log] = [join(folder, 'git'), join(folder, 'starts')];
  writeFileSync(log, '');
  writeFileSync(gitPath, `#!/bin/bash\nprintf '%s\\n' "$*" >> '${log}'\nPATH=\${PATH#*:} exec git "$@"\n`, {
    mode: 0o755,
  });
  return {
    gitPath,
    started: () => {
      const lines = readFileSync(log, 'utf8').split('\n').filter(Boolean);
      writeFileSync(log, '');
      return lines;
    },
  };
}
