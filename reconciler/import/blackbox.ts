import type { AssertionForm } from '../manifest/schema/assertionForm.ts'
import {
  bodyOf,
  headersOf,
  type ImportedService,
  intervalOf,
  labelOf,
  labelsOf,
  methodOf,
  REDIRECTS,
  type ReadServices,
  statusOf,
  timeoutOf,
  urlOf,
  type VariableOf,
} from './importedService.ts'
import { moduleOf, noteRelabelling } from './relabelling.ts'
import type { SourceValue } from './sourceValue.ts'

/** Default interval of Prometheus (seconds). */
const INTERVAL_S = 60
/** Where the exporter probes targets. */
const PROBE_PATH = '/probe'
/** Default module. */
const USUAL_MODULE = 'http_2xx'

/** A target with its module, interval and the time limit of Prometheus. */
interface Probe {
  readonly target: SourceValue
  readonly job: string
  readonly module: string
  readonly interval: SourceValue
  readonly timeout: SourceValue
  readonly labels: SourceValue
}

/**
 * The services that a blackbox_exporter probes for Prometheus: one for each target. `documents` are those of its own
 * configuration, of Prometheus' configuration, lists of scrape configurations (additionalScrapeConfigs), and Probe resources of
 * the Prometheus operator.
 */
export const fromBlackbox: ReadServices = (documents, variable) => {
  const modules = new Map(documents.flatMap((document) => document.get('modules').entries()))
  const probes = documents.flatMap((document) => [
    ...probesOfPrometheus(document),
    ...[document, ...document.get('items').items()].flatMap(probesOfResource),
  ])
  const isPrometheus = (one: SourceValue) => one.get('scrape_configs').isThere || one.items().length > 0
  if (probes.length === 0 && !documents.some(isPrometheus)) {
    for (const document of documents.filter((one) => one.get('modules').isThere)) {
      document
        .get('modules')
        .note('left out: modules have no targets: pass the configuration of Prometheus too')
    }
  }
  // The targets of a module share its secrets.
  const variables = new Map<string, string>()
  const shared = (place: string) => {
    const name = variables.get(place) ?? variable(place)
    variables.set(place, name)
    return name
  }
  return withDistinctNames(
    probes.flatMap((probe) => {
      const service = serviceOf(probe, modules, shared)
      return service === undefined ? [] : [{ service, job: probe.job }]
    }),
  )
}

/** The services, with the name of the job before the name of a target of several jobs. */
function withDistinctNames(
  found: readonly { readonly service: ImportedService; readonly job: string }[],
): readonly ImportedService[] {
  const jobs = new Map<string, Set<string>>()
  for (const { service, job } of found) {
    jobs.set(service.name, (jobs.get(service.name) ?? new Set()).add(job))
  }
  return found.map(({ service, job }) =>
    jobs.get(service.name)?.size === 1 ? service : { ...service, name: `${job} ${service.name}` },
  )
}

function probesOfPrometheus(document: SourceValue): readonly Probe[] {
  const setting = (config: SourceValue, key: string): SourceValue =>
    config.get(key).isThere ? config.get(key) : document.get('global').get(key)
  return [...document.items(), ...document.get('scrape_configs').items()].flatMap((config) => {
    if (config.get('metrics_path').text() !== PROBE_PATH) return []
    const [module] = config.get('params').get('module').items()
    const named = config.get('params').get('target').items()
    noteRelabelling(config)
    for (const [key, value] of config.entries()) {
      if (key.endsWith('_sd_configs')) value.note('left out: import reads only the targets of static_configs')
    }
    return config
      .get('static_configs')
      .items()
      .flatMap((group) =>
        group
          .get('targets')
          .items()
          // A target in the parameters leaves the address of the exporter as the target.
          .flatMap((target) =>
            (named.length > 0 ? named : [target]).map((probed) => ({
              target: probed,
              labels: group.get('labels'),
            })),
          ),
      )
      .map((probed) => ({
        ...probed,
        job: config.get('job_name').text() ?? 'job',
        module: moduleOf(config, probed.labels) ?? module?.text() ?? USUAL_MODULE,
        interval: setting(config, 'scrape_interval'),
        timeout: setting(config, 'scrape_timeout'),
      }))
  })
}

function probesOfResource(resource: SourceValue): readonly Probe[] {
  const kind = resource.get('kind').text()
  if (kind === 'ScrapeConfig' && resource.get('spec').get('metricsPath').text() === PROBE_PATH) {
    resource.note(
      'left out: a ScrapeConfig: write it into the scrape_configs of a configuration of Prometheus',
    )
  }
  if (kind !== 'Probe') return []
  const spec = resource.get('spec')
  const targets = spec.get('targets')
  if (targets.get('ingress').isThere)
    targets.get('ingress').note('left out: import reads only the targets of staticConfig')
  const rules = targets.get('staticConfig').get('relabelingConfigs')
  if (rules.isThere) rules.note('left out: relabelingConfigs: check the targets and labels of the manifests')
  return targets
    .get('staticConfig')
    .get('static')
    .items()
    .map((target) => ({
      target,
      job: spec.get('jobName').text() ?? resource.get('metadata').get('name').text() ?? 'probe',
      module: spec.get('module').text() ?? USUAL_MODULE,
      interval: spec.get('interval'),
      timeout: spec.get('scrapeTimeout'),
      labels: targets.get('staticConfig').get('labels'),
    }))
}

function serviceOf(
  { target, job, module, interval, timeout, labels }: Probe,
  modules: ReadonlyMap<string, SourceValue>,
  variable: VariableOf,
): ImportedService | undefined {
  const address = target.text() ?? ''
  const shown = withoutSecrets(address)
  const definition = modules.get(module)
  if (definition === undefined && module !== USUAL_MODULE)
    return target.note(`${shown} is left out: these files have no module ${module}`)
  const prober = definition?.get('prober').text() ?? 'http'
  if (prober !== 'http') return target.note(`${shown} is left out: Pharos checks HTTP only, not ${prober}`)
  const http = definition?.get('http')
  const method = http === undefined ? 'GET' : methodOf(shown, http.get('method'))
  if (method === undefined) return undefined
  // The exporter itself adds the scheme to a target that has none.
  const url = urlOf(shown, target, /^https?:\/\//.test(address) ? address : `http://${address}`)
  if (url === undefined) return undefined
  const follows =
    http?.get('follow_redirects').flag() !== false && http?.get('no_follow_redirects').flag() !== true
  return {
    name: url.replace(/^https?:\/\//, '').replace(/\/$/, ''),
    intervalS: intervalOf(interval, INTERVAL_S),
    place: target,
    isPaused: false,
    labels: {
      job: labelOf(job),
      ...labelsOf(labels.entries().filter(([key]) => !key.startsWith('__'))),
    },
    endpoints: [
      {
        url,
        method,
        timeoutS: shortestOf(definition === undefined ? [timeout] : [definition.get('timeout'), timeout]),
        maxRedirects: follows ? REDIRECTS : 0,
        headers: http === undefined ? {} : moduleHeaders(http, module, variable),
        body: bodyOf(http?.get('body'), module, variable),
        assertions: http === undefined ? [{ status: '2xx' }] : assertionsOf(http),
      },
    ],
  }
}

/** The address of a target for a note, without the parts that may hold a secret. */
function withoutSecrets(address: string): string {
  return address.replace(/[?#].*/s, '').replace(/[^/]*@/, '')
}

/** The shortest of the time limits that are there (seconds): the exporter keeps both its module's and Prometheus'. */
function shortestOf(limits: readonly SourceValue[]): number | undefined {
  const seconds = limits.flatMap((limit) => timeoutOf(limit) ?? [])
  return seconds.length === 0 ? undefined : Math.min(...seconds)
}

function moduleHeaders(http: SourceValue, module: string, variable: VariableOf) {
  const authorization = http.first('authorization', 'bearer_token', 'bearer_token_file')
  const named = headersOf(http.get('headers').entries(), module, variable)
  const scheme = http.get('authorization').get('type').text() ?? 'Bearer'
  const basic = http.get('basic_auth')
  if (!authorization.isThere && !basic.isThere) return named
  const env = variable(`${module}_authorization`)
  const prefix = basic.isThere ? 'Basic ' : `${scheme} `
  const form = basic.isThere ? ' to the Base64 of user:password' : ''
  http
    .first('authorization', 'bearer_token', 'bearer_token_file', 'basic_auth')
    .note(`the secret is not copied: set ${env}${form}`)
  return { ...named, Authorization: { env, prefix } }
}

/** Fields of a module that mean the same here or are read elsewhere. */
const READ = new Set([
  ...['method', 'headers', 'body', 'basic_auth', 'bearer_token', 'bearer_token_file', 'authorization'],
  ...['follow_redirects', 'no_follow_redirects', 'valid_status_codes', 'fail_if_body_not_matches_regexp'],
  ...['fail_if_header_not_matches', 'accept_any_response'],
])

/** Whether a field changes nothing: `false`, or empty throughout. */
function isOff(value: SourceValue): boolean {
  if (!value.isThere || value.flag() === false || value.text() === '') return true
  const parts = [...value.items(), ...value.entries().map(([, part]) => part)]
  return value.flag() === undefined && value.text() === undefined && parts.every(isOff)
}

function assertionsOf(http: SourceValue): readonly AssertionForm[] {
  for (const [key, value] of http.entries()) {
    if (!READ.has(key) && !isOff(value)) value.note(`left out: no equivalent of ${key}`)
  }
  const given = http.get('valid_status_codes')
  const bodies = http.get('fail_if_body_not_matches_regexp').texts()
  const headers = http.get('fail_if_header_not_matches').items()
  return [
    http.get('accept_any_response').flag() === true
      ? { status: { gte: 100 } }
      : (statusOf(given.texts(), given) ?? { status: '2xx' }),
    ...bodies.map((regex) => ({ body: { regex } })),
    ...headers.flatMap((header) => {
      const [name, regex] = [header.get('header').text(), header.get('regexp').text()]
      const allowed = header.get('allow_missing')
      if (allowed.flag() === true) allowed.note('left out: an assertion on a missing header fails')
      return name === undefined || regex === undefined ? [] : [{ header: { name, regex } }]
    }),
  ]
}
