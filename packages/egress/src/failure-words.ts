/** Plain words for the system's error codes of name resolution and connections. */
const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the host refuses connections on this port; nothing may be listening there',
  ECONNRESET: 'the host closed the connection',
  EPIPE: 'the host closed the connection',
  ETIMEDOUT: 'the host did not answer in time',
  EHOSTUNREACH: 'no way leads to the host',
  EHOSTDOWN: 'the host is down',
  ENETUNREACH: 'no way leads to the network of the host',
  ENETDOWN: 'the network of this machine is down',
  EADDRNOTAVAIL: 'this machine has no address or no free port for the connection',
  EACCES: 'this machine does not allow the connection',
  EPERM: 'this machine does not allow the connection',
  EMFILE: 'this process has too many files and connections open',
  ENFILE: 'this machine has too many files and connections open',
  ENOTFOUND: 'no such name',
  ENODATA: 'the name has no address',
  EAI_AGAIN: 'the name server does not answer',
  EAI_FAIL: 'the name server failed',
  ESERVFAIL: 'the name server failed',
};

/** The words with the code of the system, or the message of an error without a known code. */
export function wordsOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const known = words[code];
  if (known !== undefined) return `${known} (${code})`;
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}
