import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { until } from '../harness/index.ts';
import {
  argumentsOf,
  type Cases,
  descendants,
  descriptorsOf,
  type InScene,
  inForm,
  inScene,
  openAndClosed,
  processesIn,
  useScene,
} from './host/index.ts';

const eperm = 1;
const einval = 22;
const enotty = 25;
const enosys = 38;
const eprotonosupport = 93;

type Argument = number | string;
/** Arguments that are harmless even where the call is allowed. Text becomes a pointer to it, `fd:path` an fd of the file. */
type Call = [name: string, number: number, args: Argument[], errno: number];

/** System call numbers of x86-64. */
const calls: Call[] = [
  ['mount', 165, ['none', '/tmp', 'tmpfs', 0, 0], eperm],
  ['umount2', 166, ['/tmp', 0], eperm],
  ['pivot_root', 155, ['.', '.'], eperm],
  ['chroot', 161, ['.'], eperm],
  ['move_mount', 429, [-1, '', -1, '', 0], eperm],
  ['fsopen', 430, ['tmpfs', 0], eperm],
  ['open_tree', 428, [-100, '.', 1], eperm],
  ['mount_setattr', 442, [-100, '.', 0, 0, 0], eperm],
  ['unshare(CLONE_NEWUSER)', 272, [0x10000000], eperm],
  ['unshare(CLONE_NEWNET)', 272, [0x40000000], eperm],
  ['unshare(0)', 272, [0], eperm],
  ['clone(CLONE_NEWUSER)', 56, [0x10000011, 0, 0, 0, 0], eperm],
  ['clone(CLONE_NEWNS)', 56, [0x00020011, 0, 0, 0, 0], eperm],
  ['clone3', 435, [0, 0], enosys],
  ['setns', 308, ['fd:/proc/self/ns/user', 0], eperm],
  ['setns of the first process', 308, ['fd:/proc/1/ns/mnt', 0], eperm],
  ['ptrace(PTRACE_TRACEME)', 101, [0, 0, 0, 0], eperm],
  ['ptrace(PTRACE_ATTACH)', 101, [16, 1, 0, 0], eperm],
  ['process_vm_readv', 310, [1, 0, 0, 0, 0, 0], eperm],
  ['process_vm_writev', 311, [1, 0, 0, 0, 0, 0], eperm],
  ['pidfd_getfd', 438, [-1, 0, 0], eperm],
  ['kcmp', 312, [1, 1, 0, 0, 0], eperm],
  ['keyctl', 250, [0, -3, 0], eperm],
  ['add_key', 248, ['user', 'hostile', 'x', 1, -3], eperm],
  ['request_key', 249, ['user', 'hostile', 0, -3], eperm],
  ['io_uring_setup', 425, [1, 0], eperm],
  ['io_uring_enter', 426, [-1, 0, 0, 0, 0, 0], eperm],
  ['io_uring_register', 427, [-1, 0, 0, 0], eperm],
  ['bpf', 321, [0, 0, 0], eperm],
  ['userfaultfd', 323, [0], eperm],
  ['userfaultfd(USER_MODE_ONLY)', 323, [1], eperm],
  ['perf_event_open', 298, [0, 0, -1, -1, 0], eperm],
  ['open_by_handle_at', 304, [-100, 0, 0], eperm],
  ['kexec_load', 246, [0, 0, 0, 0], eperm],
  ['kexec_file_load', 320, [-1, -1, 0, 0, 0], eperm],
  ['init_module', 175, [0, 0, ''], eperm],
  ['finit_module', 313, [-1, '', 0], eperm],
  ['delete_module', 176, ['hostile', 0], eperm],
  ['ioctl(TIOCSTI)', 16, [0, 0x5412, 'x'], eperm],
  ['ioctl(TIOCLINUX)', 16, [0, 0x541c, 'x'], eperm],
  ['ioctl(TIOCSTI) with a bit above the 32 that count', 16, [0, 0x1_0000_5412, 'x'], eperm],
  ['ioctl(TCGETS), which is no danger', 16, [0, 0x5401, 0], enotty],
  ['vhangup', 153, [], eperm],
  ['syslog', 103, [3, 0, 0], eperm],
  ['acct', 163, [0], eperm],
  ['swapon', 167, ['/workspace/none', 0], eperm],
  ['reboot', 169, [0, 0, 0, 0], eperm],
  ['quotactl', 179, [0, 0, 0, 0], eperm],
  ['sethostname', 170, ['hostile', 7], eperm],
  ['settimeofday', 164, [0, 0], eperm],
  ['setuid(0)', 105, [0], einval],
  ['setgid(0)', 106, [0], einval],
  ['setgroups', 116, [0, 0], eperm],
  ['getpid by the x32 table', 0x40000000 + 39, [], enosys],
  ['unshare by the x32 table', 0x40000000 + 272, [0], enosys],
  ['a call between the known ones', 400, [0], enosys],
  ['a call that comes with a later kernel', 470, [0, 0, 0, 0], enosys],
  ['a call of any later kernel', 1000, [0], enosys],
  ['modify_ldt', 154, [0, 0, 0], eperm],
  ['memfd_secret', 447, [0], eperm],
  ['name_to_handle_at', 303, [-100, '.', 0, 0, 0], eperm],
  ['process_madvise', 440, [-1, 0, 0, 0, 0], eperm],
  ['mbind', 237, [0, 0, 0, 0, 0, 0], eperm],
  ['move_pages', 279, [0, 0, 0, 0, 0, 0], eperm],
  ['open_tree_attr', 467, [-1, '', 0, 0, 0], eperm],
  ['personality(READ_IMPLIES_EXEC)', 135, [0x0400000], eperm],
  ['personality(ADDR_NO_RANDOMIZE)', 135, [0x0040000], eperm],
  ['ioctl(TIOCSETD)', 16, [0, 0x5423, 'x'], eperm],
  ...[2, 4, 6, 7, 9, 10, 11, 12, 15, 16].map(
    (protocol): Call => [`socket(AF_NETLINK, ${protocol})`, 41, [16, 3, protocol], eprotonosupport],
  ),
  ...[1, 33, 115, 132, 136, 262].flatMap((protocol): Call[] => [
    [`socket(AF_INET, ${protocol})`, 41, [2, 1, protocol], eprotonosupport],
    [`socket(AF_INET6, ${protocol})`, 41, [10, 2, protocol], eprotonosupport],
  ]),
  ...[3, 5, 6].map((type): Call => [`socket(AF_INET) of type ${type}`, 41, [2, type, 0], eperm]),
];

/** Machine code of a system call from the 32-bit table, which has other numbers: getpid; ret. */
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

type KillCase = [name: string, line: InScene, expected: RegExp];

const killCases: Cases<KillCase> = {
  bounded: [
    ['kill -9 -1', 'sleep 100 & kill -9 -1; echo still here', /^still here\n$/],
    ['the worker', ({ worker }) => `kill -9 ${worker.pid} 2>&1`, /No such process/],
  ],
  full: [
    ['a process of its own user outside', ({ bystander }) => `kill -9 ${bystander} 2>&1`, /No such process/],
    ['the first process inside', 'kill -9 1; echo still here', /^still here\n$/],
    [
      'every pid',
      'for p in {2..40000}; do [ $p = $$ ] || kill -9 $p; done 2>/dev/null; echo still here',
      /^still here\n$/,
    ],
  ],
};

const program = readFileSync(new URL('inside/system-calls.py', import.meta.url), 'utf8');

describe.each(openAndClosed)('the kernel, with a worker of $name', (user) => {
  const { scene, workspace } = useScene(user);
  let found: Record<string, { result?: number; errno?: number; signal?: number }>;
  beforeAll(async () => {
    // The second command of a workspace runs in a sandbox that was prepared for it.
    await scene.worker.run(workspace, 'true');
    const { stdout, stderr } = await scene.worker.run(workspace, '/usr/bin/python3 -c "$PROGRAM"', {
      env: { PROGRAM: program, CALLS: JSON.stringify(calls.map(([name, number, args]) => [name, number, ...args])) },
    });
    expect(stderr.text).toBe('');
    found = JSON.parse(stdout.text);
  });

  describe.runIf(process.arch === 'x64')('system calls of x86-64', () => {
    test.each(calls)('%s', (name, _number, _args, errno) => expect(found[name]).toEqual({ result: -1, errno }));

    test('a system call of the 32-bit table kills the process', async () => {
      const { stdout } = await scene.worker.run(workspace, '/usr/bin/python3 -c "$PROGRAM"', {
        env: { PROGRAM: byOtherTable },
      });
      // SIGSYS by the filter, SIGSEGV where the kernel has no such table.
      expect(['31\n', '11\n']).toContain(stdout.text);
    });

    test('the system calls changed no state outside', () => scene.expectIntact());
  });

  test('there is no terminal to type into', async () => {
    const { end, stderr } = await scene.worker.run(workspace, 'exec 3<>/dev/tty');
    expect(end).toMatchObject({ status: 'exited', exit_code: 1 });
    expect(stderr.text).toMatch(/No such device or address/);
  });

  test('a set-user-id program keeps its user', async () => {
    const line =
      'cp /usr/bin/id . && chmod 6755 id && ./id -u; for p in su mount newgrp passwd; do [ -u /usr/bin/$p ] && echo $p; done';
    const { stdout } = await scene.worker.run(workspace, `${line}; grep NoNewPrivs /proc/self/status`);
    expect(stdout.text).toMatch(/^1000\n/);
    expect(stdout.text).toContain('NoNewPrivs:\t1');
    expect(stdout.text).not.toContain('uid=0');
    await scene.worker.run(workspace, 'rm -f id');
    await scene.expectIntact();
  });

  test('commands and tool hosts do not get the fds that the worker inherited', async () => {
    const { worker, canary } = scene;
    expect([...descriptorsOf(worker.pid).values()]).toContain(canary);
    const starter = descendants(worker.pid).find((pid) => argumentsOf(pid).includes('/starter/main.mjs')) ?? 0;
    expect([...descriptorsOf(starter).values()]).not.toContain(canary);
    expect(descriptorsOf(starter).size).toBeGreaterThan(3);
    const controller = new AbortController();
    const running = worker.run(workspace, 'touch up; exec sleep 100', { signal: controller.signal });
    const isSleeping = () => processesIn(workspace.path).some((pid) => argumentsOf(pid).startsWith('sleep\0'));
    await until('the command sleeps', isSleeping);
    await worker.files(workspace).stat('.');
    const inside = processesIn(workspace.path);
    const sleeping = inside.find((pid) => argumentsOf(pid).startsWith('sleep\0')) ?? 0;
    expect([...descriptorsOf(sleeping).keys()]).toEqual([0, 1, 2]);
    for (const pid of inside) {
      // Except the standard streams, which are unnamed pipes created there. A mount namespace would lead to everything in it.
      const leadTo = [...descriptorsOf(pid).values()].filter(
        (path) =>
          path.startsWith('mnt:') || (path.startsWith(scene.directory) && !/\/stdio-\w+\/\d+ \(deleted\)$/.test(path)),
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
describe.each(openAndClosed)('signals, with a worker of $name', (user) => {
  const { scene } = useScene(user, { spares: 0 });

  test.each(inForm(killCases))('no process outside dies: %s', async (_, line, expected) => {
    // As the bystander's user.
    const { end, stdout } = await scene.worker.run(scene.neighbour, inScene(line, scene));
    expect(end.status).toBe('exited');
    expect(stdout.text).toMatch(expected);
    expect(processesIn(scene.neighbour.path)).toEqual([]);
    await scene.expectIntact();
  });
});
