/** The engine's log lines: an object of fields and a message. pino fits. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** The counts of the engine for dashboards. */
export interface Metrics {
  /** Something was stuck, and was put right. */
  repaired(what: string): void;
}
