import type { CapabilityReport } from '@holdpoint/contract';

/** A report in which nothing is enforced. */
export function absentReport(driver: CapabilityReport['driver'], notes: string[] = []): CapabilityReport {
  const absent = 'absent' as const;
  const files = { fs: absent, disk: absent, uid_drop: absent };
  return { driver, ...files, net: absent, pids: absent, memory: absent, cpu: absent, seccomp: absent, notes };
}
