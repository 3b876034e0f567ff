// The starter: starts the first program of each sandbox for one worker. The worker sends requests over the IPC channel, and the starter
// decides nothing. A process of the worker's size needs 9 ms per start for the copy of its page tables, the starter 1 ms. The starter is
// plain JavaScript: Node needs 17 MB and 30 ms more to strip types. Argument: the worker's pid.
import { execFile, spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Server } from 'node:net';
import { setPriority } from 'node:os';
import { dropView, leaveView, makeView, viewOption, views } from './views.mjs';

/**
 * @import { ChildProcess } from 'node:child_process'
 * @import { PassedFile, Report, StarterRequest, StartRequest } from './protocol.ts'
 */

const worker = Number(process.argv[2]);

// The worker has ended. The kernel ends the sandboxes together with this process, their parent.
process.once('disconnect', () => process.exit(0));
if (process.ppid !== worker) process.exit(0);

closeInherited();

process.on('message', (/** @type {StarterRequest} */ request) => {
  switch (request.kind) {
    case 'start':
      return start(request);
    case 'fifos':
      // Writable for all, because the workspace's owner may open its own /dev/stdout. Only the worker's user can pass the directory.
      return void execFile(request.mkfifo, ['-m', '666', '--', ...request.paths], { env: {} }, (error) =>
        report({ kind: 'fifos', id: request.id, error: error?.message ?? null }),
      );
    case 'view':
      return makeView(request, report);
    case 'drop_view':
      return dropView(request.id);
  }
});

/**
 * Closes the files inherited through the worker. Node closes its own files when starting a program, but passes on inherited ones. enter.sh
 * also closes them in each sandbox, and needs longer for every file left open.
 */
function closeInherited() {
  const closedAtStart = 0o2000000; // O_CLOEXEC of Linux. Node has no constant for O_CLOEXEC
  const channel = process.channel?.fd;
  for (const fd of readdirSync('/proc/self/fd').map(Number)) {
    if (fd <= 2 || fd === channel) continue;
    try {
      const [, flags = ''] = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1')) ?? [];
      if ((Number.parseInt(flags, 8) & closedAtStart) === 0) closeSync(fd);
    } catch {
      // The listing included the fd of `readdirSync`, closed by now.
    }
  }
}

/** @param {StartRequest} request */
function start({ id, program, args, options, stdio, niceness, view: entered }) {
  const view = entered && views.get(entered.id);
  if (view === undefined || view?.fd === null) return report({ kind: 'failed', id, message: 'its view is gone' });
  /** @type {number[]} */
  const opened = [];
  /** @type {ChildProcess} */
  let subprocess;
  try {
    subprocess = spawn(program, view ? [...entered.lead, viewOption(view.fd), ...args] : args, {
      ...options,
      stdio: stdio.map((one) => {
        if (one === null) return 'ignore';
        if (one === 'listener') return 'ipc';
        const fd = openPassed(one);
        opened.push(fd);
        return fd;
      }),
      cwd: '/',
      // A session of its own: a signal for the group of the worker or of this process reaches no sandbox.
      detached: true,
    });
  } catch (error) {
    return report({ kind: 'failed', id, message: error instanceof Error ? error.message : String(error) });
  } finally {
    for (const fd of opened) closeSync(fd);
  }
  // Another process can only get this pid after Node has waited for the child. Node waits in a later turn of the event loop.
  const { pid } = subprocess;
  if (pid === undefined) {
    subprocess.once('error', ({ message }) => report({ kind: 'failed', id, message }));
    return;
  }
  if (view) {
    view.users++;
    subprocess.once('exit', () => leaveView(entered.id, view));
  }
  preferForOom(pid);
  if (niceness !== 0) lowerPriority(pid, niceness);
  report({ kind: 'started', id, pid, stat: readStat(pid) });
  if (stdio.includes('listener')) passListener(id, subprocess);
  subprocess.once('exit', (_code, signal) => report({ kind: 'ended', id, signaled: signal !== null }));
}

/**
 * @param {number} id
 * @param {ChildProcess} subprocess
 */
function passListener(id, subprocess) {
  let isPassed = false;
  subprocess.once('message', (_message, handle) => {
    if (handle instanceof Server) {
      isPassed = true;
      // Only the worker may keep the socket open: the kernel spreads connections over all listening processes, and the starter reads none.
      // The command begins after the worker has the socket, so no connection arrives before the starter closes its copy.
      report({ kind: 'listener', id, isOpen: true }, { handle, onSent: () => handle.close() });
    }
    if (subprocess.connected) subprocess.disconnect();
  });
  subprocess.once('disconnect', () => {
    if (!isPassed) report({ kind: 'listener', id, isOpen: false });
  });
}

/**
 * Opens a file that is open in the worker. Buffered data stays in the file, and the new descriptor has its own flags.
 *
 * @param {PassedFile} file
 */
function openPassed({ fd, inode, access }) {
  const path = `/proc/${worker}/fd/${fd}`;
  // A blocking open for reading waits for a writer, and the worker may have closed its end. The first open does not block, and counts as a
  // writer.
  const writer = access === 'wait' ? openSync(path, constants.O_RDWR | constants.O_NONBLOCK) : null;
  const flags = access === 'write' ? constants.O_WRONLY : constants.O_RDONLY;
  const own = openSync(path, flags | (access === 'read' ? constants.O_NONBLOCK : 0));
  if (writer !== null) closeSync(writer);
  if (fstatSync(own).ino === inode) return own;
  closeSync(own);
  throw new Error('the worker has closed a file that it passed');
}

/** @param {number} pid */
function readStat(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return null; // the process has ended
  }
}

/**
 * Makes the kernel kill sandboxed programs first when the host runs out of memory. Child processes inherit the score.
 *
 * @param {number} pid
 */
function preferForOom(pid) {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '500');
  } catch {
    // The process has ended, or belongs to another user by now. The score is only a preference.
  }
}

/**
 * @param {number} pid
 * @param {number} niceness
 */
function lowerPriority(pid, niceness) {
  try {
    setPriority(pid, niceness);
  } catch {
    // as above
  }
}

/**
 * @param {Report} message
 * @param {{ handle: Server, onSent: () => void }} [passed]
 */
function report(message, passed) {
  // Sending fails only when the worker has ended. A socket must stay open until sent, so the callback closes the socket.
  if (process.connected) process.send?.(message, passed?.handle, {}, () => passed?.onSent());
}
