import { readFileSync } from 'node:fs';
import type { WorkspaceMount } from '@holdpoint/sandbox/port';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inForm } from './host/form.ts';
import { argumentsOf, descriptorsOf, processesIn } from './host/process-table.ts';
import { openScene, type Scene } from './host/scene.ts';
import { users } from './host/users.ts';

const EPERM = 1;
const EINVAL = 22;
const ENOTTY = 25;
const ENOSYS = 38;
const EPROTONOSUPPORT = 93;

type Argument = number | string;
/** Arguments that ask for nothing harmful even where the call is allowed. Text is a pointer to it, `fd:path` a descriptor of the file. */
type Call = [name: string, number: number, args: Argument[], errno: number];

/** Numbers of x86-64. */
const calls: Call[] = [
  ['mount', 165, ['none', '/tmp', 'tmpfs', 0, 0], EPERM],
  ['umount2', 166, ['/tmp', 0], EPERM],
  ['pivot_root', 155, ['.', '.'], EPERM],
  ['chroot', 161, ['.'], EPERM],
  ['move_mount', 429, [-1, '', -1, '', 0], EPERM],
  ['fsopen', 430, ['tmpfs', 0], EPERM],
  ['open_tree', 428, [-100, '.', 1], EPERM],
  ['mount_setattr', 442, [-100, '.', 0, 0, 0], EPERM],
  ['unshare(CLONE_NEWUSER)', 272, [0x10000000], EPERM],
  ['unshare(CLONE_NEWNET)', 272, [0x40000000], EPERM],
  ['unshare(0)', 272, [0], EPERM],
  ['clone(CLONE_NEWUSER)', 56, [0x10000011, 0, 0, 0, 0], EPERM],
  ['clone(CLONE_NEWNS)', 56, [0x00020011, 0, 0, 0, 0], EPERM],
  ['clone3', 435, [0, 0], ENOSYS],
  ['setns', 308, ['fd:/proc/self/ns/user', 0], EPERM],
  ['setns of the first process', 308, ['fd:/proc/1/ns/mnt', 0], EPERM],
  ['ptrace(PTRACE_TRACEME)', 101, [0, 0, 0, 0], EPERM],
  ['ptrace(PTRACE_ATTACH)', 101, [16, 1, 0, 0], EPERM],
  ['process_vm_readv', 310, [1, 0, 0, 0, 0, 0], EPERM],
  ['process_vm_writev', 311, [1, 0, 0, 0, 0, 0], EPERM],
  ['pidfd_getfd', 438, [-1, 0, 0], EPERM],
  ['kcmp', 312, [1, 1, 0, 0, 0], EPERM],
  ['keyctl', 250, [0, -3, 0], EPERM],
  ['add_key', 248, ['user', 'hostile', 'x', 1, -3], EPERM],
  ['request_key', 249, ['user', 'hostile', 0, -3], EPERM],
  ['io_uring_setup', 425, [1, 0], EPERM],
  ['io_uring_enter', 426, [-1, 0, 0, 0, 0, 0], EPERM],
  ['io_uring_register', 427, [-1, 0, 0, 0], EPERM],
  ['bpf', 321, [0, 0, 0], EPERM],
  ['userfaultfd', 323, [0], EPERM],
  ['userfaultfd(USER_MODE_ONLY)', 323, [1], EPERM],
  ['perf_event_open', 298, [0, 0, -1, -1, 0], EPERM],
  ['open_by_handle_at', 304, [-100, 0, 0], EPERM],
  ['kexec_load', 246, [0, 0, 0, 0], EPERM],
  ['kexec_file_load', 320, [-1, -1, 0, 0, 0], EPERM],
  ['init_module', 175, [0, 0, ''], EPERM],
  ['finit_module', 313, [-1, '', 0], EPERM],
  ['delete_module', 176, ['hostile', 0], EPERM],
  ['ioctl(TIOCSTI)', 16, [0, 0x5412, 'x'], EPERM],
  ['ioctl(TIOCLINUX)', 16, [0, 0x541c, 'x'], EPERM],
  ['ioctl(TIOCSTI) with a bit above the 32 that count', 16, [0, 0x1_0000_5412, 'x'], EPERM],
  ['ioctl(TCGETS), which is no danger', 16, [0, 0x5401, 0], ENOTTY],
  ['vhangup', 153, [], EPERM],
  ['syslog', 103, [3, 0, 0], EPERM],
  ['acct', 163, [0], EPERM],
  ['swapon', 167, ['/workspace/none', 0], EPERM],
  ['reboot', 169, [0, 0, 0, 0], EPERM],
  ['quotactl', 179, [0, 0, 0, 0], EPERM],
  ['sethostname', 170, ['hostile', 7], EPERM],
  ['settimeofday', 164, [0, 0], EPERM],
  ['setuid(0)', 105, [0], EINVAL],
  ['setgid(0)', 106, [0], EINVAL],
  ['setgroups', 116, [0, 0], EPERM],
  ['getpid by the x32 table', 0x40000000 + 39, [], ENOSYS],
  ['unshare by the x32 table', 0x40000000 + 272, [0], ENOSYS],
  ['a call between the known ones', 400, [0], ENOSYS],
  ['a call that comes with a later kernel', 470, [0, 0, 0, 0], ENOSYS],
  ['a call of any later kernel', 1000, [0], ENOSYS],
  ['modify_ldt', 154, [0, 0, 0], EPERM],
  ['memfd_secret', 447, [0], EPERM],
  ['name_to_handle_at', 303, [-100, '.', 0, 0, 0], EPERM],
  ['process_madvise', 440, [-1, 0, 0, 0, 0], EPERM],
  ['mbind', 237, [0, 0, 0, 0, 0, 0], EPERM],
  ['move_pages', 279, [0, 0, 0, 0, 0, 0], EPERM],
  ['open_tree_attr', 467, [-1, '', 0, 0, 0], EPERM],
  ['personality(READ_IMPLIES_EXEC)', 135, [0x0400000], EPERM],
  ['personality(ADDR_NO_RANDOMIZE)', 135, [0x0040000], EPERM],
  ['ioctl(TIOCSETD)', 16, [0, 0x5423, 'x'], EPERM],
  ...[2, 4, 6, 7, 9, 10, 11, 12, 15, 16].map(
    (protocol): Call => [`socket(AF_NETLINK, ${protocol})`, 41, [16, 3, protocol], EPROTONOSUPPORT],
  ),
  ...[1, 33, 115, 132, 136, 262].flatMap((protocol): Call[] => [
    [`socket(AF_INET, ${protocol})`, 41, [2, 1, protocol], EPROTONOSUPPORT],
    [`socket(AF_INET6, ${protocol})`, 41, [10, 2, protocol], EPROTONOSUPPORT],
  ]),
  ...[3, 5, 6].map((type): Call => [`socket(AF_INET) of type ${type}`, 41, [2, type, 0], EPERM]),
];

/** Machine code of a system call by the 32-bit table, which has other numbers: getpid; ret. */
const byOtherTable = `
import ctypes, mmap, os
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex('b814000000cd80c3'))
pid = os.fork()
if pid == 0:
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
    os._exit(0)
status = os.waitpid(pid, 0)[1]
print(os.WIFSIGNALED(status) and os.WTERMSIG(status))
`;

interface KillCase {
  name: string;
  line(scene: Scene): string;
  told: RegExp;
  bounded?: boolean;
}

const killCases: KillCase[] = [
  { name: 'kill -9 -1', line: () => 'sleep 100 & kill -9 -1; echo still here', told: /^still here\n$/, bounded: true },
  {
    name: 'a process of its own user outside',
    line: ({ bystander }) => `kill -9 ${bystander} 2>&1`,
    told: /No such process/,
  },
  { name: 'the worker', line: ({ worker }) => `kill -9 ${worker.pid} 2>&1`, told: /No such process/, bounded: true },
  { name: 'the first process inside', line: () => 'kill -9 1; echo still here', told: /^still here\n$/ },
  {
    name: 'every pid there is',
    line: () => 'for p in {2..40000}; do [ $p = $$ ] || kill -9 $p; done 2>/dev/null; echo still here',
    told: /^still here\n$/,
  },
];

const program = readFileSync(new URL('inside/system-calls.py', import.meta.url), 'utf8');

describe.each(users)('the kernel, with a worker of $name', (user) => {
  let scene: Scene;
  let workspace: WorkspaceMount;
  let found: Record<string, { result?: number; errno?: number; signal?: number }>;
  beforeAll(async () => {
    scene = await openScene(user);
    workspace = scene.makeWorkspace();
    const { stdout, stderr } = await scene.worker.run(workspace, '/usr/bin/python3 -c "$PROGRAM"', {
      env: { PROGRAM: program, CALLS: JSON.stringify(calls.map(([name, number, args]) => [name, number, ...args])) },
    });
    expect(stderr.text).toBe('');
    found = JSON.parse(stdout.text);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  describe.runIf(process.arch === 'x64')('system calls of x86-64', () => {
    test.each(calls)('%s', (name, _number, _args, errno) => {
      expect(found[name]).toEqual({ result: -1, errno });
    });

    test('the 32-bit table is closed: its user dies', async () => {
      const { stdout } = await scene.worker.run(workspace, '/usr/bin/python3 -c "$PROGRAM"', {
        env: { PROGRAM: byOtherTable },
      });
      // SIGSYS by the filter; SIGSEGV where the kernel has no such table
      expect(['31\n', '11\n']).toContain(stdout.text);
    });

    test('nothing outside has changed by them', () => scene.expectIntact());
  });

  test.each(inForm(killCases))('nothing outside dies: $name', async ({ line, told }) => {
    // as the bystander's own user
    const { end, stdout } = await scene.worker.run(scene.neighbour, line(scene));
    expect(end.status).toBe('exited');
    expect(stdout.text).toMatch(told);
    expect(processesIn(scene.neighbour.path)).toEqual([]);
    await scene.expectIntact();
  });

  test('there is no terminal to type into', async () => {
    const { end, stderr } = await scene.worker.run(workspace, 'exec 3<>/dev/tty');
    expect(end).toMatchObject({ status: 'exited', exit_code: 1 });
    expect(stderr.text).toMatch(/No such device or address/);
  });

  test('a program that sets its user on execution keeps its user', async () => {
    const line =
      'cp /usr/bin/id . && chmod 6755 id && ./id -u; for p in su mount newgrp passwd; do [ -u /usr/bin/$p ] && echo $p; done';
    const { stdout } = await scene.worker.run(workspace, `${line}; grep NoNewPrivs /proc/self/status`);
    expect(stdout.text).toMatch(/^1000\n/);
    expect(stdout.text).toContain('NoNewPrivs:\t1');
    expect(stdout.text).not.toContain('uid=0');
    await scene.worker.run(workspace, 'rm -f id');
    await scene.expectIntact();
  });

  test('a command and a tool host have only the descriptors that they need, though the worker inherited one to a file', async () => {
    const { worker, canary } = scene;
    expect([...descriptorsOf(worker.pid).values()]).toContain(canary);
    const controller = new AbortController();
    const running = worker.run(workspace, 'touch up; exec sleep 100', { signal: controller.signal });
    await expect
      .poll(() => processesIn(workspace.path).some((pid) => argumentsOf(pid).startsWith('sleep\0')))
      .toBe(true);
    await worker.files(workspace).stat('.');
    const inside = processesIn(workspace.path);
    const sleeping = inside.find((pid) => argumentsOf(pid).startsWith('sleep\0')) ?? 0;
    expect([...descriptorsOf(sleeping).keys()]).toEqual([0, 1, 2]);
    for (const pid of inside) {
      // beside its standard streams, which are nameless pipes made there
      const leadTo = [...descriptorsOf(pid).values()].filter(
        (path) => path.startsWith(scene.directory) && !/\/stdio-\w+\/\d+ \(deleted\)$/.test(path),
      );
      expect(leadTo, argumentsOf(pid)).toEqual([]);
    }
    controller.abort(new Error('seen'));
    await running;
    await worker.killAll(workspace.id);
    expect(processesIn(workspace.path)).toEqual([]);
    await scene.expectIntact();
  });
});
