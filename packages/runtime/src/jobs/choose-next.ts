/** Who a job works for. */
export interface Owner {
  tenant: string;
  run: string;
}

/**
 * Chooses the next jobs to begin, in their order: always from the tenant with the fewest jobs, there from the run with the fewest, and there
 * the first in the queue. Chosen jobs count as running.
 * @param waiting in the order of the queue
 */
export function chooseNext<J extends Owner>(waiting: readonly J[], running: readonly Owner[], most: number): J[] {
  const loads = new Loads(running);
  const left = lines(waiting);
  const chosen: J[] = [];
  while (chosen.length < most) {
    const line = left.filter(({ jobs }) => jobs.length > 0).toSorted((a, b) => loads.compare(a, b) || a.at - b.at)[0];
    const next = line?.jobs.shift();
    if (line === undefined || next === undefined) break;
    line.at = line.jobs[0]?.at ?? Number.POSITIVE_INFINITY;
    loads.add(next.job);
    chosen.push(next.job);
  }
  return chosen;
}

interface Line<J> extends Owner {
  /** Place of its first job in the queue. */
  at: number;
  jobs: { job: J; at: number }[];
}

/** The jobs of each run. */
function lines<J extends Owner>(waiting: readonly J[]): Line<J>[] {
  const byRun = new Map<string, Line<J>>();
  for (const [at, job] of waiting.entries()) {
    const line = byRun.get(job.run) ?? { tenant: job.tenant, run: job.run, at, jobs: [] };
    byRun.set(job.run, line);
    line.jobs.push({ job, at });
  }
  return [...byRun.values()];
}

class Loads {
  readonly #tenants = new Map<string, number>();
  readonly #runs = new Map<string, number>();

  constructor(running: readonly Owner[]) {
    for (const owner of running) this.add(owner);
  }

  add({ tenant, run }: Owner): void {
    this.#tenants.set(tenant, (this.#tenants.get(tenant) ?? 0) + 1);
    this.#runs.set(run, (this.#runs.get(run) ?? 0) + 1);
  }

  compare(a: Owner, b: Owner): number {
    const ofTenant = ({ tenant }: Owner) => this.#tenants.get(tenant) ?? 0;
    const ofRun = ({ run }: Owner) => this.#runs.get(run) ?? 0;
    return ofTenant(a) - ofTenant(b) || ofRun(a) - ofRun(b);
  }
}
