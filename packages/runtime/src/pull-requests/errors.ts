/** Every failure of a pull request: whether the same call may succeed later, and the next step. */
const registry = {
  EPULLREQUESTTOKEN: {
    retryable: false,
    next: 'Make a new token at the code host, and set it as the value of the same secret (holdpoint secrets set).',
  },
  EPULLREQUESTRIGHT: {
    retryable: false,
    next: 'Give the token these rights for the repository: contents, pull requests and commit statuses, each to read and write.',
  },
  EPULLREQUESTMISSING: {
    retryable: false,
    next: 'Check the address of the API and that the token may read the repository. Many hosts say the same of both.',
  },
  EPULLREQUESTBASE: { retryable: false, next: 'Name a branch of the repository as the base of the pull request.' },
  EPULLREQUESTOVER: {
    retryable: false,
    next: 'Publish to another branch, which gets a pull request of its own.',
  },
  EPULLREQUESTFOREIGN: {
    retryable: false,
    next: 'Close it, or publish to another branch: a pull request that this run did not open is never changed.',
  },
  EPULLREQUESTMOVED: { retryable: false, next: 'Use the present address of the repository in a new run.' },
  EPULLREQUESTREFUSED: { retryable: false, next: 'Correct what the code host names.' },
  EPULLREQUESTADDRESS: {
    retryable: false,
    next: 'Use the public address of the API, or have the operator open this host (HOLDPOINT_GIT_HOSTS; HOLDPOINT_ALLOW_ADDRESSES for a private address).',
  },
  EPULLREQUESTANSWER: { retryable: false, next: 'Check that the address is that of the API, and not of a page.' },
  EPULLREQUESTBUSY: { retryable: true, next: 'Wait until the limit of requests at the code host is over.' },
  EPULLREQUESTUNREACHABLE: { retryable: true, next: 'Check that the code host is up, and its certificate.' },
} as const satisfies Record<string, { retryable: boolean; next: string }>;

export type PullRequestErrorCode = keyof typeof registry;

/** The code host cannot, or will not, do its part of a pull request. */
export class PullRequestError extends Error {
  override readonly name = 'PullRequestError';
  readonly code: PullRequestErrorCode;
  readonly retryable: boolean;
  readonly next: string;

  constructor(code: PullRequestErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
    this.retryable = registry[code].retryable;
    this.next = registry[code].next;
  }
}
