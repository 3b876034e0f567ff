import type { Finding } from './finding.ts';

/** The first version that runs TypeScript without a flag or a warning and has all that is used here. */
const least = [22, 22] as const;

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const enough = major > least[0] || (major === least[0] && minor >= least[1]);
  if (enough) return { name: 'node', level: 'ok', text: version };
  return {
    name: 'node',
    level: 'fail',
    text: `${version}; ${least.join('.')} or newer is needed`,
    next: 'Run it through npm (npm start): the set-up brings a Node of its own.',
  };
}
