/** Whether a command failed because there is no Redis that can take it now: gone, starting, full, or a replica. */
export function isRedisAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === 'MaxRetriesPerRequestError') return true;
  if (error.name === 'ReplyError') return refusals.some((word) => error.message.startsWith(word));
  if ('syscall' in error && error.syscall === 'connect') return true;
  return lost.some((words) => error.message.includes(words));
}

const refusals = ['LOADING', 'READONLY', 'MISCONF', 'OOM', 'CLUSTERDOWN', 'MASTERDOWN', 'TRYAGAIN'];
const lost = ['Connection is closed', 'Command aborted due to connection close', "Stream isn't writeable"];
