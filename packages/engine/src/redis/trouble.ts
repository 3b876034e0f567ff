/** Why Redis did not execute a command, and the remedy. */
export interface RedisTrouble {
  code: RedisTroubleCode;
  detail: string;
  next: string;
}
export type RedisTroubleCode = keyof typeof troubles;

/** Why a command failed; undefined for an error from outside Redis. */
export function redisTrouble(error: unknown): RedisTrouble | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = codeOf(error);
  return code === undefined ? undefined : { code, ...troubles[code] };
}

/** The server answers and refuses: the server would refuse the same command again at once. */
export const isRefusal = (error: unknown): boolean => {
  const code = redisTrouble(error)?.code;
  return code !== undefined && code !== 'unavailable' && code !== 'redis_timeout';
};

function codeOf(error: Error): RedisTroubleCode | undefined {
  if (error.name === 'ReplyError') {
    const word = /^[A-Z]+/.exec(error.message)?.[0] ?? '';
    // Before version 7 a refusal inside a script follows the name of the script: `… script: 3: -OOM command not …`.
    const inScript = /: -([A-Z]+) /.exec(error.message)?.[1] ?? '';
    return refusals[word] ?? refusals[inScript];
  }
  if (error.message === 'Command timed out') return 'redis_timeout';
  const isLost =
    error.name === 'MaxRetriesPerRequestError' ||
    ('syscall' in error && error.syscall === 'connect') ||
    lost.some((words) => error.message.includes(words));
  return isLost ? 'unavailable' : undefined;
}

const lost = ['Connection is closed', 'Command aborted due to connection close', "Stream isn't writeable"];

const refusals: Readonly<Record<string, RedisTroubleCode>> = {
  OOM: 'redis_full',
  READONLY: 'redis_read_only',
  MISCONF: 'redis_cannot_save',
  NOREPLICAS: 'redis_without_replicas',
  LOADING: 'redis_loading',
  BUSY: 'redis_busy',
  CLUSTERDOWN: 'redis_cluster',
  MOVED: 'redis_cluster',
  ASK: 'redis_cluster',
  CROSSSLOT: 'redis_cluster',
  TRYAGAIN: 'redis_cluster',
  MASTERDOWN: 'redis_read_only',
  NOAUTH: 'redis_denied',
  NOPERM: 'redis_denied',
  WRONGPASS: 'redis_denied',
};

const troubles = {
  unavailable: { detail: 'Redis does not answer', next: 'Send the request again in a moment.' },
  redis_timeout: {
    detail: 'Redis did not answer in time',
    next: 'Check the load and the disk of Redis. The request may have been done: send it again with the same Idempotency-Key, or read first.',
  },
  redis_full: {
    detail: 'Redis refuses writes: its memory is full',
    next: 'Raise maxmemory of Redis, or give its machine more memory. Nothing is lost; work continues when Redis takes writes.',
  },
  redis_read_only: {
    detail: 'Redis refuses writes: it is a replica',
    next: 'Set REDIS_URL to the master, or finish the failover. Nothing is lost; work continues when Redis takes writes.',
  },
  redis_cannot_save: {
    detail: 'Redis refuses writes: it cannot write to its disk',
    next: 'Read the log of Redis, and free space on its disk. Work continues when Redis takes writes.',
  },
  redis_without_replicas: {
    detail: 'Redis refuses writes: too few of its replicas are connected (min-replicas-to-write)',
    next: 'Start the replicas of Redis, or lower min-replicas-to-write. Work continues when Redis takes writes.',
  },
  redis_loading: { detail: 'Redis is loading its data', next: 'Send the request again in a moment.' },
  redis_busy: {
    detail: 'Redis is busy with a script that does not end',
    next: 'End that script with SCRIPT KILL, then find the program that runs it: Holdpoint has no long script.',
  },
  redis_cluster: {
    detail: 'This is a Redis Cluster, which Holdpoint does not support',
    next: 'Set REDIS_URL to a Redis or Valkey that is not in cluster mode, or unset it to use the embedded server.',
  },
  redis_denied: {
    detail: 'Redis refuses this user',
    next: 'Correct the user and password in REDIS_URL; the user needs all commands and all keys.',
  },
} as const;
