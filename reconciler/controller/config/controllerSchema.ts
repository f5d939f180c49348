import { isAbsolute } from 'node:path'
import * as z from 'zod'
import { clientProblem } from '../../../api/client/client.ts'
import { branchProblem, treePathProblem } from '../../git/gitUrl.ts'
import { API_VERSION } from '../../manifest/schema/serviceManifest.ts'
import { RUN_MS_MAX } from '../../run/apiWait.ts'
import { isGitLocation } from '../../state/git/gitRef.ts'
import { windowProblem } from '../schedule/window.ts'
import {
  absolutePath,
  duration,
  durationFrom,
  flag,
  mapping,
  name,
  oneOf,
  secretReference,
  text,
  wholeNumber,
} from './fields.ts'
import { notificationsSchema } from './notificationsSchema.ts'

/** Shortest interval (seconds): each look is a request of the five a second that a key has. */
const INTERVAL_SECONDS_MIN = 1
/** Shortest limit of a transfer (seconds): within less hardly any git has even started. */
const FETCH_SECONDS_MIN = 1

/** Shortest time limit of a cycle (seconds): within less no answer may have come. */
const TIMEOUT_SECONDS_MIN = 1

/** Senders of webhooks, by the way in which they sign. */
const HOOK_KINDS = ['github', 'gitlab', 'generic'] as const

/** What to use in place of kinds that there were. */
const FORMER_HOOK_KINDS: Readonly<Record<string, string>> = {
  gitea: 'gitea is no longer a kind: write github, whose signature Gitea sends as well',
  forgejo: 'forgejo is no longer a kind: write github, whose signature Forgejo sends as well',
  bitbucket:
    'bitbucket is no longer a kind: have a pipeline send POST /api/sets/NAME/run, or rely on the interval',
}

/** Checks with `problemOf`, whose text is the message. */
const checked = (form: string, problemOf: (value: string) => string | undefined) =>
  z.string({ error: form }).superRefine((value, context) => {
    const problem = problemOf(value)
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
  })

const NO_KEY = `pharos_${'0'.repeat(64)}`
const apiUrl = checked('must be the address of the API', (url) =>
  clientProblem(url, NO_KEY) === undefined
    ? undefined
    : 'must be an http:// or https:// address without credentials',
)

const ceiling = mapping({
  count: wholeNumber(0).describe('most changes of this kind; of deletions never more than half of the set'),
  percent: z
    .number({ error: 'must be a number from 0 to 100' })
    .min(0, { error: 'must be a number from 0 to 100' })
    .max(100, { error: 'must be a number from 0 to 100' })
    .describe('most changes of this kind as a share of the services of the set'),
})

const window = mapping({
  kind: oneOf(['allow', 'deny']),
  schedule: text('must be a cron expression such as "0 9 * * 1-5"').describe(
    'when it opens: cron, five fields',
  ),
  duration: duration.describe('how long it stays open'),
  timeZone: text('must be a time zone such as Europe/Berlin').default('UTC'),
}).superRefine((one, context) => {
  const problem = windowProblem(one)
  if (problem !== undefined)
    context.addIssue({ code: 'custom', path: [problem.field], message: problem.message })
})

/** How a repository is reached, besides its address. */
const access = {
  credential: mapping({
    username: text('must be a text').default('x-access-token'),
    password: secretReference,
  })
    .optional()
    .describe('for https'),
  sshKeyFile: absolutePath.optional().describe('for ssh: the private key'),
  knownHostsFile: absolutePath
    .optional()
    .describe('for ssh: the keys of hosts; nothing else makes one known'),
  caFile: absolutePath
    .optional()
    .describe('for https: the certificates of issuers that the system does not know'),
}

const repository = mapping({
  url: text('must be the address of a repository').describe('https://…, ssh://… or git@host:path'),
  aliases: z
    .array(text('must be the address of a repository'), { error: 'must be a list of addresses' })
    .default([])
    .describe('other addresses of the same repository, as webhooks name it'),
  branch: checked('must be the name of a branch', branchProblem).default('main'),
  path: checked('must be a path inside the repository', treePathProblem)
    .default('.')
    .describe('folder or file of the manifests'),
  ...access,
  fetchTimeout: durationFrom(FETCH_SECONDS_MIN)
    .default(600_000)
    .describe('how long a transfer may take, at least 1s'),
  fetchMiB: wholeNumber(1).default(1_024).describe('most that a transfer may bring (MiB)'),
  allowFile: flag.default(false).describe('accept a file:// address'),
  allowedSigners: absolutePath
    .optional()
    .describe(
      'apply only commits signed by one of these keys: a file of allowed signers as ssh-keygen knows it',
    ),
  allowedGpgKeys: absolutePath
    .optional()
    .describe(
      'the same with OpenPGP keys: a file as "gpg --export" writes it; with both, either kind counts',
    ),
})

const STATE_FORM = 'must be an absolute path, or git:ADDRESS#refs/pharos/NAME'
const stateLocation = z
  .string({ error: STATE_FORM })
  .refine((location) => isAbsolute(location) || isGitLocation(location), { error: STATE_FORM })

const set = mapping({
  name,
  repository,
  environment: text('must be the name of an Environment').optional(),
  api: mapping({
    url: apiUrl.optional().describe('PHAROS_URL when left out'),
    key: secretReference.optional().describe('PHAROS_API_KEY when left out'),
    caFile: absolutePath
      .optional()
      .describe('CA certificates (PEM) to trust instead of the default ones; PHAROS_CA_FILE when left out'),
  }).prefault({}),
  state: stateLocation
    .optional()
    .describe('an SQLite file, or git:ADDRESS#refs/pharos/NAME; NAME.db in the data folder when left out'),
  stateAccess: mapping(access)
    .optional()
    .describe('how a state in git is reached; the variables PHAROS_GIT_… when left out'),
  stateKey: secretReference
    .optional()
    .describe('key of the fingerprints of secrets; the file beside the state when left out'),
  secretsDir: absolutePath.optional().describe('the one folder from which manifests may take secrets'),
  interval: durationFrom(INTERVAL_SECONDS_MIN)
    .default(60_000)
    .describe('how often the repository and the services are looked at, at least 1s'),
  timeout: durationFrom(TIMEOUT_SECONDS_MIN)
    .default(RUN_MS_MAX)
    .describe('time limit of one cycle, at least 1s; it also ends after ten minutes without a useful answer'),
  drift: oneOf(['heal', 'report', 'ignore'])
    .default('heal')
    .describe('the most that is done about changes by hand; a manifest may ask for less'),
  prune: oneOf(['pause-then-delete', 'policy', 'never'])
    .default('pause-then-delete')
    .describe('what becomes of a service whose manifest is gone; "policy" is what its manifest said'),
  pruneAfter: duration
    .default(24 * 3_600_000)
    .describe('how long a paused service is kept before it is deleted'),
  leaseTtl: duration
    .optional()
    .describe(
      'how long a replica may show no sign of life before another one takes over; the same for all replicas',
    ),
  createGrace: duration.default(60_000),
  brakes: mapping({
    maxDeletes: ceiling.default({ count: 3, percent: 10 }),
    maxUpdates: ceiling.default({ count: 10, percent: 30 }),
    maxRecreates: ceiling.default({ count: 3, percent: 10 }),
  }).prefault({}),
  windows: z.array(window, { error: 'must be a list of windows' }).default([]),
  overrun: flag.default(true).describe('let a run that began in a window end after it'),
})

const hook = mapping({
  source: name.describe('the last part of its address: /hooks/SOURCE'),
  kind: z.enum(HOOK_KINDS, {
    error: ({ input }) => FORMER_HOOK_KINDS[String(input)] ?? `must be one of ${HOOK_KINDS.join(', ')}`,
  }),
  secrets: z
    .array(secretReference, { error: 'must be a list of one or two secrets' })
    .min(1, { error: 'must have at least one secret' })
    .max(2, { error: 'must have at most two secrets: the old and the new one' }),
  sets: z
    .array(name, { error: 'must be a list of names of sets' })
    .optional()
    .describe('all sets when left out'),
})

const LISTEN_FORM = 'must be HOST:PORT, such as 127.0.0.1:7180, or "none"'
const listen = z
  .string({ error: LISTEN_FORM })
  .regex(/^(?:none|(?:\[[0-9a-fA-F:.]+\]|[\w.-]+):\d{1,5})$/, { error: LISTEN_FORM })

/** The configuration of the controller as it is written. */
export const controllerSchema = mapping({
  apiVersion: z.literal(API_VERSION, { error: `must be ${API_VERSION}` }),
  kind: z.literal('Controller', { error: 'must be Controller' }),
  listen: listen.default('127.0.0.1:7180').describe('where page, webhooks, API and metrics are'),
  publicUrl: apiUrl.optional().describe('how people reach the page: for links'),
  replica: name.optional().describe('how this process is called; the name of the machine when left out'),
  dataDir: absolutePath.optional().describe('folder for states and copies of repositories'),
  apiToken: secretReference.optional().describe('for POST /api/…: without it these routes are off'),
  webhooks: z.array(hook, { error: 'must be a list of webhooks' }).default([]),
  notifications: notificationsSchema.prefault({}),
  sets: z.array(set, { error: 'must be a list of sets' }).min(1, { error: 'must have at least one set' }),
})
export type ControllerConfig = z.output<typeof controllerSchema>
export type SetConfig = ControllerConfig['sets'][number]
export type HookConfig = ControllerConfig['webhooks'][number]

/** The JSON Schema (draft-7) of the configuration, for editors. Pure. */
export function controllerJsonSchema(): object {
  return z.toJSONSchema(controllerSchema, { target: 'draft-7', io: 'input', unrepresentable: 'any' })
}
