import { z } from 'zod';

/** How a bound is enforced on this host: by the kernel, in part, or not at all. */
const enforcementSchema = z.enum(['enforced', 'partial', 'absent']);
export type Enforcement = z.infer<typeof enforcementSchema>;

/** The isolation enforced by the sandbox for an attempt. Stored with every attempt, shown by `holdpoint doctor`. */
export const capabilityReportSchema = z
  .strictObject({
    driver: z.enum(['bubblewrap', 'none']),
    fs: enforcementSchema,
    net: enforcementSchema,
    pids: enforcementSchema,
    memory: enforcementSchema,
    cpu: enforcementSchema,
    disk: enforcementSchema,
    seccomp: enforcementSchema,
    uid_drop: enforcementSchema,
    notes: z.array(z.string()).describe('One sentence per gap: what is missing and what would close it'),
  })
  .meta({ id: 'Capabilities' });
export type CapabilityReport = z.infer<typeof capabilityReportSchema>;

const absent = 'absent' as const;
/** The report of a call without isolation. */
export const nothingEnforced: CapabilityReport = {
  ...{ driver: 'none', fs: absent, net: absent, pids: absent, memory: absent, cpu: absent },
  ...{ disk: absent, seccomp: absent, uid_drop: absent, notes: [] },
};
