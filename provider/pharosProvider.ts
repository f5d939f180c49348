import { createHash } from 'node:crypto'
import { incidentData, incidentsData, incidentsList } from './data/incidentData.ts'
import { orgData } from './data/orgData.ts'
import { regionsData } from './data/regionsData.ts'
import { serviceData } from './data/serviceData.ts'
import { servicesData } from './data/servicesData.ts'
import { servicesList } from './data/servicesList.ts'
import { functions } from './functions/functions.ts'
import { incidentResource } from './incident/incidentResource.ts'
import { incidentUpdateAction } from './incident/incidentUpdateAction.ts'
import type { ConfigureContext } from './protocol/authoring/context.ts'
import { DiagnosticError } from './protocol/authoring/diagnostics.ts'
import type { Log } from './protocol/authoring/log.ts'
import type { Provider } from './protocol/authoring/provider.ts'
import { defineSchema, optional } from './protocol/authoring/schema.ts'
import { defineProvider } from './protocol/defineProvider.ts'
import { UNKNOWN } from './protocol/values/value.ts'
import type { CreationGuard } from './service/apply/creationGuard.ts'
import { Fingerprints } from './service/apply/fingerprint.ts'
import type { Connection } from './service/connection.ts'
import { pauseAction, resumeAction } from './service/pauseActions.ts'
import { serviceResource } from './service/serviceResource.ts'
import type { SessionOptions } from './service/session.ts'
import { waitNotices } from './service/waitNotice.ts'

const providerSchema = defineSchema({
  description: 'Manages the monitored services of the organisation that owns the API key.',
  attributes: {
    url: optional(
      'string',
      'Base URL of the API, without `/v1`. Default: the environment variable `PHAROS_URL`.',
    ),
    api_key: {
      ...optional(
        'string',
        'API key. Default: the environment variable `PHAROS_API_KEY`, which keeps it out of files.',
      ),
      sensitive: true,
    },
    ca_file: optional(
      'string',
      'File of CA certificates (PEM) to trust instead of those that Node trusts. Default: the ' +
        'environment variable `PHAROS_CA_FILE`. `HTTPS_PROXY` and `NO_PROXY` name a proxy.',
    ),
    expected_org_id: optional(
      'string',
      'UUID of the organisation that must own the key; the provider refuses to read or change another one. ' +
        'Default: the environment variable `PHAROS_EXPECTED_ORG_ID`; if unset, not checked.',
    ),
    create_guard: optional(
      'bool',
      'Whether a create first searches for a service that a killed run created but did not record. The provider ' +
        'takes it over, or reports an error if it may belong to another configuration. `false` always creates a ' +
        'service. Default: `true`.',
    ),
  },
})

/** The provider `pharos`. `environment` has the defaults of its settings. */
export function pharosProvider(version: string, environment: NodeJS.ProcessEnv): Provider {
  return defineProvider({
    name: 'pharos',
    version,
    schema: providerSchema,
    async configure({ config, terraformVersion, interrupted, log }): Promise<Connection> {
      const url = config.url ?? environment.PHAROS_URL ?? ''
      const apiKey = config.api_key ?? environment.PHAROS_API_KEY ?? ''
      const expectedOrgId = config.expected_org_id ?? environment.PHAROS_EXPECTED_ORG_ID
      const fingerprints = new Fingerprints()
      const caFile = config.ca_file ?? (environment.PHAROS_CA_FILE || undefined)
      const isGuarded = config.create_guard ?? true
      if (
        url === UNKNOWN ||
        apiKey === UNKNOWN ||
        caFile === UNKNOWN ||
        expectedOrgId === UNKNOWN ||
        isGuarded === UNKNOWN
      ) {
        const unknown = Object.entries(config).filter(([, value]) => value === UNKNOWN)
        return { session: undefined, unknown: unknown.map(([name]) => name), fingerprints }
      }
      // Loaded here because most processes that Terraform starts are never configured.
      const { Session, outgoingFor, settingsProblem } = await import('./service/session.ts')
      const problem = settingsProblem({ url, apiKey, expectedOrgId })
      if (problem !== undefined) throw new DiagnosticError(problem)
      // A header cannot contain line breaks and all characters.
      const appended = (environment.TF_APPEND_USER_AGENT ?? '').replaceAll(/[^\x20-\x7e]+/g, ' ')
      const userAgent =
        `terraform-provider-pharos/${version} terraform/${terraformVersion} ${appended}`.trim()
      const guard = isGuarded
        ? await guardFor(`${url}\n${apiKey}`, environment, { interrupted, log })
        : undefined
      const outgoing = outgoingFor(environment, caFile)
      const session = new Session({
        ...{ url, apiKey, userAgent, outgoing, expectedOrgId, guard },
        ...requestsIn(log),
      })
      return { session, unknown: [], fingerprints }
    },
    resources: { pharos_service: serviceResource, pharos_incident: incidentResource },
    lists: { pharos_service: servicesList, pharos_incident: incidentsList },
    actions: {
      pharos_pause_service: pauseAction,
      pharos_resume_service: resumeAction,
      pharos_update_incident: incidentUpdateAction,
    },
    functions,
    dataSources: {
      pharos_service: serviceData,
      pharos_services: servicesData,
      pharos_regions: regionsData,
      pharos_org: orgData,
      pharos_incident: incidentData,
      pharos_incidents: incidentsData,
    },
  })
}

/** The guard against duplicate creations in `account`, with a journal shared by runs on this machine. */
async function guardFor(
  account: string,
  environment: NodeJS.ProcessEnv,
  { interrupted, log }: Pick<ConfigureContext<unknown>, 'interrupted' | 'log'>,
): Promise<CreationGuard> {
  const { CreationGuard } = await import('./service/apply/creationGuard.ts')
  const { currentRun, journalFolders } = await import('./service/apply/terraformRun.ts')
  return new CreationGuard({
    folders: journalFolders(environment),
    run: currentRun(environment, interrupted),
    scope: createHash('sha256').update(account).digest('hex'),
    warn: (message) => log.warn(message),
  })
}

/** Logs requests and their results, without headers, bodies and search texts. */
function requestsIn(log: Log): Pick<SessionOptions, 'onAttempt' | 'onRetry'> {
  const isNoticed = waitNotices()
  return {
    onAttempt: ({ method, path, status, durationMs }) =>
      log.debug(`${method} ${path.replace(/\?.*/s, '')}`, { status, duration_ms: Math.round(durationMs) }),
    onRetry: ({ reason, delayMs }) => {
      log[isNoticed() ? 'warn' : 'info'](`the request is sent again: ${reason}`, {
        delay_ms: Math.round(delayMs),
      })
    },
  }
}
