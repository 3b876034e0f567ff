/** Where a remote repository is, read from its URL. */
export interface Remote {
  transport: 'https' | 'ssh';
  /** In lower case; an IPv6 address without brackets. */
  host: string;
  port: number;
  /** The user of ssh. */
  user: string | undefined;
  /** The form for git. The URL has no credentials and does not begin with a dash. */
  url: string;
}

/**
 * Reads `https://host/path`, `ssh://user@host/path` and `user@host:path`, and no other form known to git: no local path, no other
 * transport, no password.
 * @returns a text about the mistake in an invalid URL
 */
export function parseRemote(text: string): Remote | string {
  if (/[\s\p{Cc}\\]/u.test(text)) return 'the URL has white space, control characters or a backslash';
  const [, short, host = '', path = ''] = /^([A-Za-z0-9._-]+)@([A-Za-z0-9.-]+):(?!\/\/)(.+)$/.exec(text) ?? [];
  if (short !== undefined) return sshRemote({ user: short, host, port: 22, path, url: text });
  const url = URL.parse(text);
  if (url === null || !text.includes('://'))
    return 'expected https://host/path, ssh://user@host/path or user@host:path';
  if (url.search !== '' || url.hash !== '') return 'the URL has a query or a fragment';
  if (url.password !== '') return passwordIn;
  switch (url.protocol) {
    case 'https:':
      if (url.username !== '') return passwordIn;
      if (url.pathname === '/') return 'the URL names no repository';
      return {
        transport: 'https',
        host: plainHost(url),
        port: Number(url.port || 443),
        user: undefined,
        url: url.href,
      };
    case 'ssh:': {
      const parts = { user: url.username, host: plainHost(url), port: Number(url.port || 22), path: url.pathname };
      return sshRemote({ ...parts, url: text });
    }
    case 'http:':
      return 'plain http is not used: everybody on the way could read and change what it carries. Use https';
    default:
      return `the transport ${url.protocol.slice(0, 20)} is not used. Use https or ssh`;
  }
}

const passwordIn =
  'the URL has credentials in it, and URLs are logged. Put the token into a secret and name it in credentials';

const plainHost = ({ hostname }: URL): string => hostname.toLowerCase().replace(/^\[|\]$/g, '');

function sshRemote(input: { user: string; host: string; port: number; path: string; url: string }): Remote | string {
  const { user, port, path, url } = input;
  const host = input.host.toLowerCase();
  if (host === '' || host.startsWith('-')) return 'the URL names no host';
  if (!/^[A-Za-z0-9._][A-Za-z0-9._-]*$/.test(user)) return 'expected a user name before the @, such as git@';
  if (/^\/*(-|$)/.test(path)) return 'the URL names no repository';
  return { transport: 'ssh', host, port, user, url };
}
