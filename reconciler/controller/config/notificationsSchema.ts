import * as z from 'zod'
import { parsedUrl } from '../../../api/contract/endpointUrl.ts'
import { EVENT_TYPES } from '../status/status.ts'
import { flag, mapping, name, oneOf, secretReference, text } from './fields.ts'

/** Types of events that there were. */
const FORMER_EVENT_TYPES: ReadonlySet<string> = new Set(['ConfigurationReloaded', 'ConfigurationRefused'])

/** Fewest characters of a secret that signs: others could guess a shorter one. */
export const SECRET_CHARS_MIN = 16

/** Why `url` cannot be the address of a receiver; undefined when it can. Pure. */
export function addressProblem(url: string): string | undefined {
  const parsed = parsedUrl(url)
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    return 'must be an http:// or https:// address'
  if (parsed.username !== '' || parsed.password !== '')
    return 'must hold no credential: every reader of the configuration would see it'
  return undefined
}

const ADDRESS_FORM =
  'must be an http:// or https:// address, or { env: NAME } or { file: /PATH } where it stands'
const address = z.string({ error: ADDRESS_FORM }).superRefine((url, context) => {
  const message = addressProblem(url)
  if (message !== undefined) context.addIssue({ code: 'custom', message })
})

const sets = z
  .array(name, { error: 'must be a list of names of sets' })
  .min(1, { error: 'must name at least one set: leave it out for all' })
  .optional()
  .describe('whose events; all sets, and the controller itself, when left out')

const channel = mapping({
  name: name.describe('what logs and metrics call it'),
  kind: oneOf(['slack', 'webhook']),
  url: z.union([address, secretReference], { error: ADDRESS_FORM }),
  secret: secretReference.optional().describe('signs what is sent: for kind webhook'),
  sets,
  severity: oneOf(['info', 'warning', 'error']).default('warning').describe('the least severe that is sent'),
  events: z
    .array(
      z.enum(EVENT_TYPES, {
        error: ({ input }) =>
          FORMER_EVENT_TYPES.has(String(input))
            ? `${input} is no longer an event, because the configuration is read at the start only: take it out`
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
  if (kind === 'slack' && secret !== undefined) issue('secret', 'has no use here: Slack checks no signature')
  if (kind === 'webhook' && secret === undefined)
    issue('secret', 'must be { env: NAME } or { file: /PATH }: the receiver verifies the sender by it')
})

const REPOSITORY_FORM = 'must be OWNER/NAME, or the path or number of a GitLab project'
const REPOSITORY = /^(?:[\w.-]+(?:\/[\w.-]+)+|\d+)$/

const forge = mapping({
  kind: oneOf(['github', 'gitlab']),
  url: address
    .optional()
    .describe('of its API; https://api.github.com or https://gitlab.com/api/v4 when left out'),
  repository: text(REPOSITORY_FORM).regex(REPOSITORY, { error: REPOSITORY_FORM }),
  token: secretReference,
  sets,
  commitStatus: flag.default(true).describe('mark the newest commit as pending, successful or failed'),
  comment: flag.default(true).describe('say in its pull request what became of it, in one comment'),
}).superRefine(({ kind, url, repository }, context) => {
  const issue = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
  if (kind === 'github' && REPOSITORY.test(repository) && !/^[\w.-]+\/[\w.-]+$/.test(repository))
    issue('repository', 'must be OWNER/NAME')
  if (url !== undefined && !isPrivateWay(url))
    issue('url', 'must be an https:// address: the token goes there')
})

/** Whether the connection is encrypted. */
function isPrivateWay(url: string): boolean {
  const parsed = parsedUrl(url)
  if (parsed === undefined) return true // The address itself is complained about.
  const { protocol, hostname } = parsed
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

/** The section `notifications` of the configuration: whom the controller tells what. */
export const notificationsSchema = mapping({
  channels: z.array(channel, { error: 'must be a list of channels' }).default([]),
  forges: z.array(forge, { error: 'must be a list of forges' }).default([]),
})
export type NotificationsConfig = z.output<typeof notificationsSchema>
export type ChannelConfig = NotificationsConfig['channels'][number]
export type ForgeConfig = NotificationsConfig['forges'][number]
