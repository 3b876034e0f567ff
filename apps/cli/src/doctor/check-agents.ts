import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { outsideAgents } from '@holdpoint/contract';
import type { Config } from '../shell/index.ts';
import type { Finding } from './finding.ts';

const name = 'outside agents';

/** The outside agents that sandboxes find. Starts none of them. Nothing to say where there is none. */
export async function checkAgents({ toolchains }: Pick<Config, 'toolchains'>): Promise<Finding[]> {
  const folders = [...toolchains.map((directory) => join(directory, 'bin')), '/usr/local/bin', '/usr/bin'];
  const found: string[] = [];
  for (const [agent, { program }] of Object.entries(outsideAgents)) {
    for (const folder of folders) {
      if (!(await isProgram(join(folder, program)))) continue;
      found.push(`${agent} (${folder})`);
      break;
    }
  }
  return found.length === 0 ? [] : [{ name, level: 'ok', text: found.join(', ') }];
}

const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
