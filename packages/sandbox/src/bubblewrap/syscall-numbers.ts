/** Architectures the filter knows, as `process.arch` spells them. The arm64 table is checked against the kernel's headers but has not run. */
export type FilterArchitecture = 'x64' | 'arm64';

/** System calls that are refused with EPERM whatever their arguments. */
export const refused = [
  // other processes' memory and descriptors
  'ptrace',
  'process_vm_readv',
  'process_vm_writev',
  'pidfd_getfd',
  'kcmp',
  // kernel keyrings are not namespaced
  'add_key',
  'request_key',
  'keyctl',
  // large attack surface, little use for a build or a test
  'bpf',
  'perf_event_open',
  'userfaultfd',
  'io_uring_setup',
  'io_uring_enter',
  'io_uring_register',
  // namespaces and mounts
  'mount',
  'umount2',
  'pivot_root',
  'chroot',
  'unshare',
  'setns',
  'move_mount',
  'fsopen',
  'fsconfig',
  'fsmount',
  'fspick',
  'open_tree',
  'mount_setattr',
  'open_tree_attr',
  'open_by_handle_at',
  // the machine itself
  'init_module',
  'finit_module',
  'delete_module',
  'kexec_load',
  'kexec_file_load',
  'reboot',
  'swapon',
  'swapoff',
  'syslog',
  'acct',
  'quotactl',
  'quotactl_fd',
  'vhangup',
] as const;

/** System calls whose arguments decide. */
type Judged = 'ioctl' | 'socket' | 'socketpair' | 'clone' | 'clone3' | 'close_range' | 'fallocate' | 'shmget';

type SyscallName = (typeof refused)[number] | Judged;

/** Numbers from 424 up are the same on every architecture. */
const shared = {
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  clone3: 435,
  close_range: 436,
  pidfd_getfd: 438,
  mount_setattr: 442,
  quotactl_fd: 443,
  open_tree_attr: 467,
};

interface Table {
  /** AUDIT_ARCH_* of <linux/audit.h>. */
  auditArch: number;
  numbers: Record<SyscallName, number>;
}

export const syscallTables: Record<FilterArchitecture, Table> = {
  x64: {
    auditArch: 0xc000003e,
    numbers: {
      ...shared,
      ioctl: 16,
      shmget: 29,
      socket: 41,
      socketpair: 53,
      clone: 56,
      ptrace: 101,
      syslog: 103,
      vhangup: 153,
      pivot_root: 155,
      chroot: 161,
      acct: 163,
      mount: 165,
      umount2: 166,
      swapon: 167,
      swapoff: 168,
      reboot: 169,
      init_module: 175,
      delete_module: 176,
      quotactl: 179,
      kexec_load: 246,
      add_key: 248,
      request_key: 249,
      keyctl: 250,
      unshare: 272,
      fallocate: 285,
      perf_event_open: 298,
      open_by_handle_at: 304,
      setns: 308,
      process_vm_readv: 310,
      process_vm_writev: 311,
      kcmp: 312,
      finit_module: 313,
      kexec_file_load: 320,
      bpf: 321,
      userfaultfd: 323,
    },
  },
  arm64: {
    auditArch: 0xc00000b7,
    numbers: {
      ...shared,
      ioctl: 29,
      umount2: 39,
      fallocate: 47,
      mount: 40,
      pivot_root: 41,
      chroot: 51,
      vhangup: 58,
      quotactl: 60,
      acct: 89,
      unshare: 97,
      kexec_load: 104,
      init_module: 105,
      delete_module: 106,
      syslog: 116,
      ptrace: 117,
      reboot: 142,
      shmget: 194,
      socket: 198,
      socketpair: 199,
      add_key: 217,
      request_key: 218,
      keyctl: 219,
      clone: 220,
      swapon: 224,
      swapoff: 225,
      perf_event_open: 241,
      open_by_handle_at: 265,
      setns: 268,
      process_vm_readv: 270,
      process_vm_writev: 271,
      kcmp: 272,
      finit_module: 273,
      bpf: 280,
      userfaultfd: 282,
      kexec_file_load: 294,
    },
  },
};
