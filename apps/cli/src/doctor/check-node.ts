import type { Finding } from './finding.ts';

/** The first version that runs TypeScript without a flag. */
const minimum = [22, 22] as const;

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const enough = major > minimum[0] || (major === minimum[0] && minor >= minimum[1]);
  if (enough) return { name: 'node', level: 'ok', text: version };
  return {
    name: 'node',
    level: 'fail',
    text: `${version}; ${minimum.join('.')} or newer is needed`,
    next: 'Run it through npm (npm start): the set-up installs a Node for this project.',
  };
}
