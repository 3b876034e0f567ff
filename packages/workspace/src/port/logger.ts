/** The part of a pino logger that this package uses. */
export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
