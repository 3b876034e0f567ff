import { gatherEquipment } from '../bubblewrap/equipment.ts';
import type { Candidate, HostParts } from '../candidate.ts';
import type { ProcessRecords } from '../process/records.ts';
import { containerDriver } from './driver.ts';
import { findEngine } from './engine.ts';

export interface ContainerOptions {
  /** With bash, coreutils and glibc, e.g. `debian:12`. It is never pulled by us. */
  image: string;
  /** Absolute path of the engine's client. @default docker, podman or nerdctl on the search path */
  engine?: string;
}

/**
 * gVisor is the engine's runtime `runsc` and not `runsc do`, which shows the whole host read-only and knows no memory limit.
 *
 * Throws `SandboxError` ESANDBOXMISSING when no engine answers.
 */
export async function prepareContainer(
  host: HostParts & { records: ProcessRecords },
  input: { name: 'container' | 'gvisor'; options: ContainerOptions },
): Promise<Candidate> {
  const { image, engine = null } = input.options;
  const driver = containerDriver({
    ...{ ...host, name: input.name, image, equipment: gatherEquipment(host) },
    engine: await findEngine({ engine, path: host.path, image }),
    runtime: input.name === 'gvisor' ? 'runsc' : null,
  });
  return { driver, hasFilter: true, withOnly: async () => driver };
}
