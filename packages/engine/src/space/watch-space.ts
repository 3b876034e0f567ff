import type { Logger } from '../ports.ts';
import { hasBallast, makeBallast, releaseBallast } from './ballast.ts';
import { freeBytes } from './free-bytes.ts';
import type { SpaceLimits } from './limits.ts';

/** How the disk of the data directory stands. */
export interface SpaceWatch {
  /** Free bytes when they are too few to take new work; undefined when there is enough. */
  readonly low: number | undefined;
  /** Looks now, without waiting for the next second. */
  look(): Promise<void>;
  stop(): void;
}

export interface WatchSpaceInput {
  dataDir: string;
  limits: SpaceLimits;
  /** This process keeps the reserve. One process per data directory. @default false */
  keepsReserve?: boolean;
  onLow?(free: number): void;
  onEnough?(free: number): void;
  everyMs?: number;
}

/**
 * Looks at the free space every second. It is low below the floor, and enough again when the floor and the reserve are free together, so
 * that remaking the reserve does not make it low once more.
 */
export async function watchSpace(input: WatchSpaceInput, logger: Logger): Promise<SpaceWatch> {
  const { dataDir, limits, keepsReserve = false, everyMs = 1000 } = input;
  let low: number | undefined;
  const release = async (): Promise<void> => {
    if (await releaseBallast(dataDir)) logger.warn({ bytes: limits.reserve }, 'disk space reserve released');
  };
  const look = async (): Promise<void> => {
    const free = await freeBytes(dataDir);
    // Never above the floor: a reserve that is given up there would be made again at once.
    if (free < Math.min(limits.reserve, limits.floor)) await release();
    if (low === undefined ? free < limits.floor : free < limits.floor + limits.reserve) {
      if (low === undefined) {
        logger.error({ free, floor: limits.floor }, 'disk space is low: no new work is taken');
        input.onLow?.(free);
      }
      low = free;
      return;
    }
    if (low !== undefined) {
      low = undefined;
      logger.info({ free }, 'disk space is enough: work is taken again');
      input.onEnough?.(free);
    }
    const hasRoom = free >= limits.floor + limits.reserve;
    if (keepsReserve && hasRoom && !(await hasBallast(dataDir, limits.reserve))) {
      await makeBallast(dataDir, limits.reserve);
    }
  };
  const safely = (): Promise<void> =>
    look().catch((error: unknown) => logger.warn({ err: error }, 'free disk space could not be read or reserved'));
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const again = async (): Promise<void> => {
    await safely();
    if (!stopped) timer = setTimeout(() => void again(), everyMs).unref();
  };
  await again();
  return {
    get low() {
      return low;
    },
    look: safely,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
