import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Finding } from './finding.ts';

/** The set-up reads the minimum in the same place. */
export function checkNode({ projectDir }: Pick<Config, 'projectDir'>, version: string): Finding {
  const project = JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8')) as {
    config: { minimumNode: string };
  };
  const { minimumNode } = project.config;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = minimumNode.split('.').map(Number);
  const enough = major > leastMajor || (major === leastMajor && minor >= leastMinor);
  if (enough) return { name: 'node', level: 'ok', text: version };
  return {
    name: 'node',
    level: 'fail',
    text: `${version}; ${minimumNode} or newer is needed`,
    next: 'Run it through npm (npm start): the set-up installs a Node for this project.',
  };
}
