import { findFacts } from './list-paths.ts';
import type { CommandHost, SimpleCommand } from './simple-command.ts';

/** The hosts of a command's connections, as far as its arguments show. */
export function listHosts(command: SimpleCommand): CommandHost[] {
  const hosts = command.redirects.flatMap(({ path }) => (isSocket(path) ? [path.split('/')[3] || null] : []));
  const found = findFacts(command);
  const kind = found?.facts.hosts;
  if (found && kind) {
    const { operands, flags } = found.read;
    const words = [...operands, ...flags.flatMap(({ value }) => (value ? [value] : []))];
    const urls = words.flatMap(({ value, static: isStatic }) =>
      value.includes('://') ? [isStatic ? urlHost(value) : null] : [],
    );
    hosts.push(...urls);
    if (kind === 'unnamed') hosts.push(null);
    const plain = operands.filter(({ value }) => !value.includes('://'));
    const named = kind === 'host' ? plain.slice(0, 1) : plain;
    for (const word of named) {
      if (!word.static) hosts.push(null);
      else if (kind === 'url') hosts.push(urlHost(`http://${word.value}`));
      else if (kind === 'host') hosts.push(afterUser(word.value));
      else if (kind === 'remote' && word.value.includes(':')) hosts.push(afterUser(word.value.split(':')[0]!));
    }
    if (kind === 'remote' && hosts.length === 0) hosts.push(null);
    if (found.read.maybeFlags) hosts.push(null);
  }
  return [...new Set(hosts)].map((host) => ({ host }));
}

/** Files turned into connections by bash. */
function isSocket(path: string): boolean {
  return path.startsWith('/dev/tcp/') || path.startsWith('/dev/udp/');
}

function urlHost(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname || null : null;
}

function afterUser(text: string): string | null {
  return text.slice(text.lastIndexOf('@') + 1).toLowerCase() || null;
}
