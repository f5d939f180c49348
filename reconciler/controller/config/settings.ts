import { existsSync, realpathSync } from 'node:fs'
import { hostname } from 'node:os'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { clientProblem } from '../../../api/client/client.ts'
import { type Outgoing, readOutgoing } from '../../../api/network/outgoing.ts'
import type { GitAccess } from '../../git/gitAccess.ts'
import { gitSchemeOf } from '../../git/gitUrl.ts'
import { isGitLocation, type StateAccess } from '../../state/git/gitRef.ts'
import { StateError } from '../../state/model/stateError.ts'
import { requireStateLocation } from '../../state/openStore.ts'
import { requireKeyPlace } from '../../state/stateKey.ts'
import { ConfigError } from './configError.ts'
import type { ControllerConfig, HookConfig, SetConfig } from './controllerSchema.ts'
import type { SecretReference } from './fields.ts'
import { addressProblem, type NotificationsConfig } from './notificationsSchema.ts'
import { type Environment, type InClear, inClear, referencesIn } from './secretReferences.ts'

/** A set with its secrets in clear: never printed. */
export interface SetSettings {
  readonly config: InClear<SetConfig>
  readonly access: GitAccess
  readonly apiUrl: string
  /** Proxy and CA certificates for the API. */
  readonly outgoing: Outgoing
  readonly apiKey: string
  readonly statePath: string
  /** Access to a state in git; read from the environment when absent. */
  readonly stateAccess: StateAccess | undefined
  readonly stateKey: string | undefined
  /** Folder of the copy of the repository. */
  readonly mirrorDirectory: string
  readonly secretsDirectory: string
  /** Variables that manifests may use, without those of the controller. */
  readonly manifestEnv: Environment
  /** Names of the variables that they may not use. */
  readonly withheldVariables: ReadonlySet<string>
}

/** One source of webhooks. */
export type HookSettings = InClear<HookConfig>
/** The section `notifications`: of it only names may be printed. */
export type NotificationSettings = InClear<NotificationsConfig>
/** A receiver of events. */
export type ChannelSettings = NotificationSettings['channels'][number]
/** A repository on a forge that gets reports about commits. */
export type ForgeSettings = NotificationSettings['forges'][number]

/** The configuration with the secrets and variables of this machine. */
export interface ControllerSettings {
  readonly config: ControllerConfig
  readonly replica: string
  /** Where to listen; null for nowhere. */
  readonly listen: { readonly host: string; readonly port: number } | null
  /** In clear; null when the routes below /api are disabled. */
  readonly apiToken: string | null
  readonly hooks: readonly HookSettings[]
  readonly sets: readonly SetSettings[]
  readonly notifications: NotificationSettings
}

const SECRETS_DIRECTORY = '/run/secrets'
const DATA_DIRECTORY = '/var/lib/pharos'
/** Minimum length of a token or a signing secret (characters), which prevents guessing. */
const SECRET_CHARS_MIN = 16

/** `config` with the variables `env` and the files of this machine. Throws ConfigError. */
export function settingsOf(config: ControllerConfig, env: Environment): ControllerSettings {
  const clear = inClear(config, env)
  const { apiToken = null, webhooks, notifications } = clear
  refuseWeakSecrets(clear)
  const replica = env.PHAROS_REPLICA ?? config.replica ?? hostname()
  const dataDir = env.PHAROS_DATA_DIR ?? config.dataDir ?? DATA_DIRECTORY
  const ours = referencesIn(config)
  const manifestEnv = Object.fromEntries(
    Object.entries(env).filter(
      // Variables that are used without a reference, such as PHAROS_API_KEY and proxy passwords, are left out as well.
      ([name]) =>
        !name.startsWith('PHAROS_') &&
        !/^(?:https?|all)_proxy$/i.test(name) &&
        !ours.some((one) => 'env' in one && one.env === name),
    ),
  )
  const secretFiles = secretFilesIn(config, ours, env)
  const common = { env, dataDir, replica, manifestEnv, secretFiles }
  const sets = clear.sets.map((set) => setSettings(set, common))
  refuseSharedStates(sets)
  return {
    config,
    replica,
    listen: listenOf(env.PHAROS_LISTEN ?? config.listen),
    apiToken,
    hooks: webhooks,
    sets,
    notifications,
  }
}

interface Common {
  readonly env: Environment
  readonly dataDir: string
  readonly replica: string
  readonly manifestEnv: Environment
  readonly secretFiles: readonly string[]
}

function setSettings(config: SetSettings['config'], common: Common): SetSettings {
  const { env, dataDir, replica } = common
  const { name, repository, api } = config
  const url = api.url ?? env.PHAROS_URL
  const key = api.key ?? env.PHAROS_API_KEY
  if (url === undefined) throw new ConfigError(`the set ${name} has no api.url: add one, or set PHAROS_URL`)
  if (key === undefined)
    throw new ConfigError(`the set ${name} has no api.key: add one, or set PHAROS_API_KEY`)
  const problem = clientProblem(url, key)
  if (problem !== undefined) throw new ConfigError(`the set ${name} cannot reach the API: ${problem}`)
  const secretsDirectory = config.secretsDir ?? env.PHAROS_SECRETS_DIR ?? SECRETS_DIRECTORY
  refuseReadableSecrets(name, secretsDirectory, common)
  const scheme = gitSchemeOf(repository.url, { file: repository.allowFile })
  if ('problem' in scheme) throw new ConfigError(`the repository of the set ${name} ${scheme.problem}`)
  const manifestEnv = chosenVariables(common.manifestEnv, config.variables)
  const statePath = config.state ?? join(dataDir, `${name}.db`)
  const stateKey = config.stateKey ?? env.PHAROS_STATE_KEY
  const stateAccess = config.stateAccess && accessOf(config.stateAccess)
  refuseUnusableState(config, { statePath, stateKey, stateAccess, env })
  return {
    config,
    access: {
      url: repository.url,
      scheme: scheme.scheme,
      ...accessOf(repository),
      allowedSignersFile: repository.allowedSigners,
      gpgKeysFile: repository.allowedGpgKeys,
    },
    apiUrl: url.replace(/\/+$/, ''),
    outgoing: outgoingOf(config, env),
    apiKey: key,
    statePath,
    stateAccess,
    stateKey,
    mirrorDirectory: join(dataDir, 'mirrors', `${name}.${replica.replaceAll(/[^\w.-]/g, '_')}.git`),
    secretsDirectory,
    manifestEnv,
    withheldVariables: new Set(Object.keys(env).filter((name) => manifestEnv[name] === undefined)),
  }
}

/** Otherwise --check would accept a state that the set can never open. */
function refuseUnusableState(
  config: SetSettings['config'],
  {
    statePath,
    stateKey,
    stateAccess,
    env,
  }: Pick<SetSettings, 'statePath' | 'stateKey' | 'stateAccess'> & Pick<Common, 'env'>,
): void {
  try {
    requireStateLocation(statePath, env, stateAccess)
    requireKeyPlace(statePath, stateKey, config.stateKey && 'stateKey')
  } catch (error) {
    if (!(error instanceof StateError)) throw error
    throw new ConfigError(`the set ${config.name} cannot use its state: ${error.message}`)
  }
}

function chosenVariables(env: Environment, names: readonly string[] | undefined): Environment {
  if (names === undefined) return env
  return Object.fromEntries(Object.entries(env).filter(([name]) => names.includes(name)))
}

/** One of the two sets would wait for the lease of the other for ever. */
function refuseSharedStates(sets: readonly SetSettings[]): void {
  const places = sets.map(({ statePath }) => (isGitLocation(statePath) ? statePath : resolve(statePath)))
  for (const [index, place] of places.entries()) {
    const first = sets[places.indexOf(place)]
    const second = sets[index]
    if (first !== second)
      throw new ConfigError(
        `the sets ${first?.config.name} and ${second?.config.name} have the same state ${place}: give each its own "state"`,
      )
  }
}

function outgoingOf({ name, api }: SetSettings['config'], env: Common['env']): Outgoing {
  const [caFile, named] =
    api.caFile === undefined
      ? [env.PHAROS_CA_FILE || undefined, 'PHAROS_CA_FILE']
      : [api.caFile, `api.caFile of the set ${name}`]
  try {
    return readOutgoing(env, caFile, named)
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error))
  }
}

/** A field that is left out is `undefined`, so that no variable takes its place. */
function accessOf({ credential, sshKeyFile, knownHostsFile, caFile }: StateAccess): StateAccess {
  return { credential, sshKeyFile, knownHostsFile, caFile }
}

/** A manifest could otherwise send secrets of the controller to any host. */
function refuseReadableSecrets(set: string, secretsDirectory: string, { secretFiles }: Common): void {
  const readable = secretFiles.find(
    (file) => isBelow(secretsDirectory, file) || isBelow(realPath(secretsDirectory), realPath(file)),
  )
  if (readable === undefined) return
  throw new ConfigError(
    `manifests of the set ${set} could read ${readable}: keep the controller's own secrets elsewhere, or give the set another secretsDir than ${secretsDirectory}`,
  )
}

/** The files with secrets of the controller: those of `ours`, and private keys. */
function secretFilesIn(
  { sets }: ControllerConfig,
  ours: readonly SecretReference[],
  env: Environment,
): readonly string[] {
  const keys = sets.flatMap(({ repository, stateAccess }) => [repository.sshKeyFile, stateAccess?.sshKeyFile])
  return [
    ...ours.flatMap((one) => ('file' in one ? [one.file] : [])),
    ...[...keys, env.PHAROS_GIT_SSH_KEY_FILE].filter((file) => file !== undefined),
  ]
}

/** `path` without symbolic links, such as /var/run for /run. */
function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}

function isBelow(root: string, path: string): boolean {
  const rest = relative(root, path)
  return rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest)
}

/** Refuses secrets that others could guess, and secret addresses that are none. */
function refuseWeakSecrets({ apiToken, webhooks, notifications }: InClear<ControllerConfig>): void {
  const requireLong = (secret: string | undefined, what: string): void => {
    if (secret !== undefined && secret.length < SECRET_CHARS_MIN)
      throw new ConfigError(
        `${what} must have at least ${SECRET_CHARS_MIN} characters: others could guess it`,
      )
  }
  requireLong(apiToken, 'apiToken')
  for (const [index, { secrets }] of webhooks.entries())
    for (const [at, secret] of secrets.entries()) requireLong(secret, `webhooks[${index}].secrets[${at}]`)
  for (const [index, { url, secret }] of notifications.channels.entries()) {
    const problem = addressProblem(url)
    if (problem !== undefined) throw new ConfigError(`notifications.channels[${index}].url ${problem}`)
    requireLong(secret, `notifications.channels[${index}].secret`)
  }
}

function listenOf(text: string): ControllerSettings['listen'] {
  if (text === 'none') return null
  const [, host = '', port = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? []
  if (host === '' || Number(port) > 65_535) throw new ConfigError(`cannot listen on "${text}": use HOST:PORT`)
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) }
}
