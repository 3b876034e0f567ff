import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { useTestHost } from './testing/host.ts';

const { host, test } = useTestHost();

/** Makes the calls that the runtimes of Go and Rust make, and prints what these would do next. */
const c = `
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static void *work(void *value) { ++*(int *)value; return value; }
static void say(const char *name, long result) { printf("%s %s\\n", name, result < 0 ? strerror(errno) : "works"); }
int main(void) {
  int done = 0;
  pthread_t thread;
  say("thread", pthread_create(&thread, 0, work, &done) ? -1 : pthread_join(thread, 0));
  pid_t child = fork();
  if (child == 0) _exit(done == 1 ? 7 : 8);
  int pidfd = syscall(SYS_pidfd_open, child, 0);
  say("pidfd_open", pidfd);
  siginfo_t info;
  say("waitid", waitid(P_PIDFD, pidfd, &info, WEXITED));
  printf("child %d\\n", info.si_status);
  say("epoll", epoll_create1(EPOLL_CLOEXEC));
  struct statx found;
  say("statx", statx(AT_FDCWD, ".", 0, STATX_BASIC_STATS, &found));
  say("getrandom", syscall(SYS_getrandom, &found, 16, 0));
  say("tcp", socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  say("udp", socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 17));
  say("mptcp", socket(AF_INET, SOCK_STREAM, 262));
  say("io_uring", syscall(SYS_io_uring_setup, 1, 0));
  say("clone3", syscall(SYS_clone3, 0, 0));
  say("faccessat2", syscall(SYS_faccessat2, AT_FDCWD, ".", R_OK, 0));
  say("close_range", syscall(SYS_close_range, 900, 1000, 0));
  return 0;
}
`;

test.skipIf(!existsSync('/usr/bin/gcc'))(
  'a program is compiled, linked and run, with threads and what runtimes need',
  async ({ workspace }) => {
    writeFileSync(join(workspace.path, 'main.c'), c, { mode: 0o644 });
    const { stdout, stderr, end } = await host.run(workspace, 'gcc -O1 -pthread -o main main.c && ./main');
    expect(stderr.text).toBe('');
    expect(end).toMatchObject({ exit_code: 0 });
    expect(stdout.text.trim().split('\n')).toEqual([
      ...['thread works', 'pidfd_open works', 'waitid works', 'child 7', 'epoll works', 'statx works'],
      ...['getrandom works'],
      ...['tcp works', 'udp works', 'mptcp Protocol not supported', 'io_uring Operation not permitted'],
      ...['clone3 Function not implemented', 'faccessat2 works', 'close_range works'],
    ]);
  },
);

test('git, npm, node with threads, python with a pool, and shells work', async () => {
  const line = `
    set -e
    git -c init.defaultBranch=main init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one && git log --oneline | wc -l
    npm --version >/dev/null && echo npm
    node -e '
      const { Worker } = require("node:worker_threads");
      const { execFileSync } = require("node:child_process");
      new Worker("require(\\"node:worker_threads\\").parentPort.postMessage(1)", { eval: true }).on("message", () => {
        require("node:fs").promises.readFile("/etc/hosts").then(() => {
          console.log("node", Object.keys(require("node:os").networkInterfaces()).join(), String(execFileSync("echo", ["child"])).trim());
        });
      });'
    /usr/bin/python3 -c '
import concurrent.futures, multiprocessing, os, subprocess, sqlite3, tempfile
with concurrent.futures.ThreadPoolExecutor(4) as pool: total = sum(pool.map(len, ["a"] * 50))
with multiprocessing.get_context("spawn").Pool(1) as pool: length = pool.map(len, ["abc"])
sqlite3.connect(":memory:").execute("create table t (a)")
print("python", total, length, subprocess.run(["true"]).returncode, os.cpu_count() > 0)'
    perl -e 'print "perl\\n"'; seq 3 | xargs -P 3 -n 1 echo | sort | tr '\\n' ' '; timeout 5 sleep 0.01; nproc > count; df . > df; ps -e > ps
    mkfifo fifo; (echo through > fifo &) ; cat fifo; tar c fifo | tar t; time true
  `;
  const { stdout, stderr, end } = await host.run(host.makeWorkspace(), line);
  expect(stderr.text.replace(/\n(real|user|sys).*/g, '').trim()).toBe('');
  expect(end).toMatchObject({ exit_code: 0 });
  expect(stdout.text).toBe('1\nnpm\nnode lo child\npython 50 [3] 0 True\nperl\n1 2 3 through\nfifo\n');
});

test('a command has the signals, the pid and the end of a plain process', async ({ workspace }) => {
  const line =
    'grep -E "^Sig(Ign|Blk)" /proc/self/status | tr -d "\\n"; trap "echo caught" INT; kill -INT $$; echo $PPID';
  const { stdout } = await host.run(workspace, line);
  expect(stdout.text).toBe('SigBlk:\t0000000000000000SigIgn:\t0000000000000000caught\n1\n');
  const orphan = await host.run(
    workspace,
    '(sleep 0.05 & echo $! > pid); p=$(<pid); while kill -0 $p 2>/dev/null; do :; done; echo reaped',
  );
  expect(orphan.stdout.text).toBe('reaped\n');
  const killed = await host.run(workspace, 'kill -SEGV $$');
  expect(killed).toMatchObject({ end: { exit_code: 139, signal: 'SIGSEGV' }, stderr: { text: '' } });
  const first = await host.run(
    workspace,
    'for s in HUP INT QUIT TERM USR1 STOP KILL; do kill -$s 1; done; sleep 0.01; echo here',
  );
  expect(first.stdout.text).toBe('here\n');
});
