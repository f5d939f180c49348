import * as z from 'zod'
import { parsedUrl } from '../../../api/contract/endpointUrl.ts'
import { EVENT_TYPES } from '../status/status.ts'
import { flag, mapping, name, oneOf, secretReference, text } from './fields.ts'

/** Types of events of earlier versions. */
const FORMER_EVENT_TYPES: ReadonlySet<string> = new Set(['ConfigurationReloaded', 'ConfigurationRefused'])

/** Why `url` is not a valid address of a receiver; undefined when it is. Pure. */
export function addressProblem(url: string): string | undefined {
  const parsed = parsedUrl(url)
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    return 'must be an http:// or https:// address'
  if (parsed.username !== '' || parsed.password !== '')
    return 'must contain no credential: every reader of the configuration would see it'
  return undefined
}

const ADDRESS_FORM =
  'must be an http:// or https:// address, or { env: NAME } or { file: /PATH } that contains it'
const address = z.string({ error: ADDRESS_FORM }).superRefine((url, context) => {
  const message = addressProblem(url)
  if (message !== undefined) context.addIssue({ code: 'custom', message })
})

const sets = z
  .array(name, { error: 'must be a list of names of sets' })
  .min(1, { error: 'must name at least one set: leave it out for all' })
  .optional()
  .describe('sets whose events are sent; all sets, and the controller itself, when left out')

const channel = mapping({
  name: name.describe('name in logs and metrics'),
  kind: oneOf(['slack', 'webhook']),
  url: z.union([address, secretReference], { error: ADDRESS_FORM }),
  secret: secretReference.optional().describe('signs requests of kind webhook'),
  sets,
  severity: oneOf(['info', 'warning', 'error']).default('warning').describe('lowest severity that is sent'),
  events: z
    .array(
      z.enum(EVENT_TYPES, {
        error: ({ input }) =>
          FORMER_EVENT_TYPES.has(String(input))
            ? `${input} is no longer an event, because the configuration is read only at the start: remove it`
            : `must be one of ${EVENT_TYPES.join(', ')}`,
      }),
      { error: 'must be a list of types of events' },
    )
    .optional()
    .describe('only these types; all when left out'),
}).superRefine(({ kind, url, secret }, context) => {
  const issue = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
  if (kind === 'slack' && typeof url === 'string')
    issue('url', 'must be { env: NAME } or { file: /PATH }: the address of a Slack webhook is a secret')
  if (kind === 'slack' && secret !== undefined) issue('secret', 'has no effect: Slack checks no signature')
  if (kind === 'webhook' && secret === undefined)
    issue('secret', 'must be { env: NAME } or { file: /PATH }: the receiver verifies the sender by it')
})

const REPOSITORY_FORM = 'must be OWNER/NAME, or the path or number of a GitLab project'
const REPOSITORY = /^(?:[\w.-]+(?:\/[\w.-]+)+|\d+)$/

const FORGE_URLS = { github: 'https://api.github.com', gitlab: 'https://gitlab.com/api/v4' } as const

const forge = mapping({
  kind: oneOf(['github', 'gitlab']),
  url: address
    .optional()
    .describe('address of its API; https://api.github.com or https://gitlab.com/api/v4 when left out'),
  repository: text(REPOSITORY_FORM).regex(REPOSITORY, { error: REPOSITORY_FORM }),
  token: secretReference,
  sets,
  commitStatus: flag.default(true).describe('mark the newest commit as pending, successful or failed'),
  comment: flag.default(true).describe('report the result of a commit in a comment of its pull request'),
})
  .superRefine(({ kind, url, repository }, context) => {
    const issue = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message })
    if (kind === 'github' && REPOSITORY.test(repository) && !/^[\w.-]+\/[\w.-]+$/.test(repository))
      issue('repository', 'must be OWNER/NAME')
    if (url !== undefined && !isEncrypted(url))
      issue('url', 'must be an https:// address, because the token is sent there')
  })
  .transform((one) => ({ ...one, url: (one.url ?? FORGE_URLS[one.kind]).replace(/\/+$/, '') }))

/** Whether the connection is encrypted, or local; true for an invalid address, which is another problem. */
function isEncrypted(url: string): boolean {
  const parsed = parsedUrl(url)
  if (parsed === undefined) return true
  const { protocol, hostname } = parsed
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

/** The section `notifications` of the configuration. */
export const notificationsSchema = mapping({
  channels: z.array(channel, { error: 'must be a list of channels' }).default([]),
  forges: z.array(forge, { error: 'must be a list of forges' }).default([]),
})
export type NotificationsConfig = z.output<typeof notificationsSchema>
