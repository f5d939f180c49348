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
  durationOfSeconds,
  flag,
  mapping,
  mappingAs,
  name,
  oneOf,
  secretReference,
  text,
  variableName,
  wholeNumber,
} from './fields.ts'
import { notificationsSchema } from './notificationsSchema.ts'

/** Kinds of senders of webhooks, by their signatures. */
const HOOK_KINDS = ['github', 'gitlab', 'generic'] as const

/** Messages about kinds of earlier versions. */
const FORMER_HOOK_KINDS: Readonly<Record<string, string>> = {
  gitea: 'gitea is no longer a kind: use github, whose signature Gitea sends as well',
  forgejo: 'forgejo is no longer a kind: use github, whose signature Forgejo sends as well',
  bitbucket:
    'bitbucket is no longer a kind: send POST /api/sets/NAME/run from a pipeline, or rely on the interval',
}

/** A string for which `problemOf` returns `undefined`; another value is an error with `form` as its message. */
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

const ceiling = mappingAs('must be a mapping such as {count: 3, percent: 10}', {
  count: wholeNumber(0).describe('maximum of changes of this kind; for deletions at most half of the set'),
  percent: z
    .number({ error: 'must be a number from 0 to 100' })
    .min(0, { error: 'must be a number from 0 to 100' })
    .max(100, { error: 'must be a number from 0 to 100' })
    .describe('maximum of changes of this kind as a share of the services of the set'),
})

const window = mapping({
  kind: oneOf(['allow', 'deny']),
  schedule: text('must be a cron expression such as "0 9 * * 1-5"').describe(
    'when it opens: cron expression with five fields',
  ),
  duration: duration.describe('how long it stays open'),
  timeZone: text('must be a time zone such as Europe/Berlin').default('UTC'),
}).superRefine((one, context) => {
  const problem = windowProblem(one)
  if (problem !== undefined)
    context.addIssue({ code: 'custom', path: [problem.field], message: problem.message })
})

/** Access to a repository besides its address. */
const access = {
  credential: mapping({
    username: text('must be a string').default('x-access-token'),
    password: secretReference,
  })
    .optional()
    .describe('for https'),
  sshKeyFile: absolutePath.optional().describe('for ssh: the private key'),
  knownHostsFile: absolutePath.optional().describe('for ssh: the only source of host keys'),
  caFile: absolutePath.optional().describe('for https: CA certificates in addition to those of the system'),
}

const repository = mapping({
  url: text('must be the address of a repository').describe('https://…, ssh://… or git@host:path'),
  aliases: z
    .array(text('must be the address of a repository'), { error: 'must be a list of addresses' })
    .default([])
    .describe('other addresses of the same repository in webhooks'),
  branch: checked('must be the name of a branch', branchProblem).default('main'),
  path: checked('must be a path inside the repository', treePathProblem)
    .default('.')
    .describe('folder or file of the manifests'),
  ...access,
  fetchTimeout: durationOfSeconds.default(600_000).describe('time limit of a transfer, at least 1s'),
  fetchMiB: wholeNumber(1).default(1_024).describe('maximum size of a transfer (MiB)'),
  allowFile: flag.default(false).describe('accept a file:// address'),
  allowedSigners: absolutePath
    .optional()
    .describe(
      'apply only commits signed by one of these keys: a file of allowed signers in the format of ssh-keygen',
    ),
  allowedGpgKeys: absolutePath
    .optional()
    .describe(
      'the same for OpenPGP keys: a file written by "gpg --export"; with both, either kind is accepted',
    ),
})

const STATE_FORM = 'must be an absolute path, or git:ADDRESS#refs/pharos/NAME'
const stateLocation = z
  .string({ error: STATE_FORM })
  .refine((location) => isAbsolute(location) || isGitLocation(location), { error: STATE_FORM })

const set = mapping({
  name,
  repository,
  environment: text('must be the name of an Environment')
    .optional()
    .describe('Environment of the manifests; none when left out'),
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
    .describe('access to a state in git; the variables PHAROS_GIT_… when left out'),
  stateKey: secretReference
    .optional()
    .describe(
      'key of the fingerprints of secrets; when left out, PHAROS_STATE_KEY or the file beside the state',
    ),
  secretsDir: absolutePath
    .optional()
    .describe(
      'the only folder from which manifests may read secrets; when left out, PHAROS_SECRETS_DIR or /run/secrets',
    ),
  variables: z
    .array(variableName, { error: 'must be a list of names of environment variables' })
    .optional()
    .describe(
      "environment variables that manifests may read; when left out, all but the controller's own secrets",
    ),
  interval: durationOfSeconds.default(60_000).describe('time between two cycles, at least 1s'),
  timeout: durationOfSeconds
    .default(RUN_MS_MAX)
    .describe(
      'time limit of one cycle, at least 1s; it also ends after ten minutes without a useful response',
    ),
  drift: oneOf(['heal', 'report', 'ignore'])
    .default('heal')
    .describe('the strongest reaction to manual changes; a manifest may set a weaker one'),
  prune: oneOf(['pause-then-delete', 'policy', 'never'])
    .default('pause-then-delete')
    .describe('what happens to a service whose manifest was removed; "policy" uses onDelete of its manifest'),
  pruneAfter: duration.default(24 * 3_600_000).describe('time after which a paused service is deleted'),
  leaseTtl: duration
    .optional()
    .describe('time without a renewal after which another replica takes over; the same for all replicas'),
  createGrace: duration
    .default(60_000)
    .describe('how long a creation without a response may still take effect'),
  brakes: mapping({
    maxDeletes: ceiling.default({ count: 3, percent: 10 }),
    maxUpdates: ceiling.default({ count: 10, percent: 30 }),
    maxRecreates: ceiling.default({ count: 3, percent: 10 }),
  })
    .prefault({})
    .describe('safety limits: a run that would make more changes of a kind waits for approval'),
  windows: z
    .array(window, { error: 'must be a list of windows' })
    .default([])
    .describe('when the set may write; at any time when left out'),
  overrun: flag.default(true).describe('whether a run that began in a window may end after it'),
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

/** The configuration file of the controller. */
export const controllerSchema = mapping({
  apiVersion: z.literal(API_VERSION, { error: `must be ${API_VERSION}` }),
  kind: z.literal('Controller', { error: 'must be Controller' }),
  listen: listen.default('127.0.0.1:7180').describe('address of dashboard, webhooks, API and metrics'),
  publicUrl: apiUrl.optional().describe('address of the dashboard for users, used in links'),
  replica: name.optional().describe('name of this process; the host name when left out'),
  dataDir: absolutePath
    .optional()
    .describe('folder for states and copies of repositories; /var/lib/pharos when left out'),
  apiToken: secretReference.optional().describe('for POST /api/…, which is disabled without it'),
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
