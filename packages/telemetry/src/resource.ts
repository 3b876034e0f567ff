import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { detectResources, envDetector, type Resource, resourceFromAttributes } from '@opentelemetry/resources';

/** The process from which telemetry comes. */
export interface Service {
  /** For example `holdpoint-worker`. */
  name: string;
  version: string;
  /** @default a random id */
  instance?: string | undefined;
}

/**
 * OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win. Not the SDK's default, because the default contains the command line of the process.
 */
export const resourceOf = ({ name, version, instance = randomUUID() }: Service): Resource =>
  resourceFromAttributes({
    'service.name': name,
    'service.version': version,
    'service.instance.id': instance,
    'host.name': hostname(),
    'process.pid': process.pid,
  }).merge(detectResources({ detectors: [envDetector] }));
