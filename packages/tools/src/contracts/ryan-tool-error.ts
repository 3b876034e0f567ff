/** A failure of a registry or of a tool. `cause` is the wrapped error. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly toolName: string;

  constructor(toolName: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.toolName = toolName;
  }

  unwrap(): unknown {
    return this.cause;
  }

  /** `tool 'name': message: cause` */
  override toString(): string {
    const { cause } = this;
    const why = cause === undefined ? '' : `: ${cause instanceof Error ? cause.message : String(cause)}`;
    return `tool '${this.toolName}': ${this.message}${why}`;
  }
}
