/** The environment variables of Terraform for a plugin, and the handshake line of the plugin. */
import type { LogLevel } from '../authoring/log.ts'
import { logLevelFrom } from './log.ts'

/** With this variable go-plugin shows that Terraform started the plugin. It prevents mistakes, not attacks. */
export const MAGIC_COOKIE = {
  name: 'TF_PLUGIN_MAGIC_COOKIE',
  value: 'd602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2',
} as const

/** Versions of go-plugin's handshake and of Terraform's protocol. */
const CORE_PROTOCOL = 1
const PROTOCOL_VERSION = 6

export interface PluginEnvironment {
  /** Directory for the socket; `undefined` for the system's temporary directory. */
  readonly socketDirectory: string | undefined
  /** TCP ports to choose from; `undefined` for any port. */
  readonly ports: PortRange | undefined
  /** PEM of the certificate of the only permitted client; `undefined` without encryption. */
  readonly clientCertificate: string | undefined
  readonly logLevel: LogLevel | undefined
}

/** TCP ports from `first` to `last`, both included. */
export interface PortRange {
  readonly first: number
  readonly last: number
}

/** The reason why a plugin cannot run, for the user who started it. */
export interface Refusal {
  readonly refusal: string
}

/**
 * Reads the variables that Terraform sets: TF_PLUGIN_MAGIC_COOKIE, PLUGIN_PROTOCOL_VERSIONS, PLUGIN_CLIENT_CERT,
 * PLUGIN_UNIX_SOCKET_DIR, PLUGIN_MIN_PORT with PLUGIN_MAX_PORT, and TF_LOG_PROVIDER or TF_LOG.
 */
export function readEnvironment(name: string, environment: NodeJS.ProcessEnv): PluginEnvironment | Refusal {
  if (environment[MAGIC_COOKIE.name] !== MAGIC_COOKIE.value) {
    return {
      refusal:
        `This is the ${name} provider for Terraform. It is started by terraform or tofu and does nothing by itself.\n` +
        `Name it under required_providers in your configuration and run "terraform init".`,
    }
  }
  const versions = environment.PLUGIN_PROTOCOL_VERSIONS || String(PROTOCOL_VERSION)
  if (!versions.split(',').includes(String(PROTOCOL_VERSION))) {
    return {
      refusal:
        `The ${name} provider speaks version ${PROTOCOL_VERSION} of Terraform's plugin protocol, ` +
        `and the program that started it speaks ${versions}. Upgrade it to Terraform 1.0 or later.`,
    }
  }
  const ports = portRange(environment)
  if (ports !== undefined && 'refusal' in ports) return ports
  return {
    socketDirectory: environment.PLUGIN_UNIX_SOCKET_DIR || undefined,
    ports,
    clientCertificate: environment.PLUGIN_CLIENT_CERT || undefined,
    logLevel: logLevelFrom(environment),
  }
}

const PORT_MAX = 65_535

function portRange(environment: NodeJS.ProcessEnv): PortRange | Refusal | undefined {
  const { PLUGIN_MIN_PORT: min = '', PLUGIN_MAX_PORT: max = '' } = environment
  if (min === '' && max === '') return undefined
  const [first, last] = [Number(min), Number(max)]
  const arePorts = [first, last].every((port) => Number.isInteger(port) && port > 0 && port <= PORT_MAX)
  if (arePorts && first <= last) return { first, last }
  return {
    refusal:
      `PLUGIN_MIN_PORT=${min} and PLUGIN_MAX_PORT=${max} are not a range of TCP ports: ` +
      `set both, from 1 to ${PORT_MAX}, the lower one first.`,
  }
}

/** The address on which a plugin listens. */
export interface PluginAddress {
  readonly network: 'unix' | 'tcp'
  /** Path of the socket, or host and port. */
  readonly address: string
}

/** The first line on stdout. `certificate` is the server's DER; `undefined` when TLS is off. */
export function handshakeLine({ network, address }: PluginAddress, certificate: Buffer | undefined): string {
  // Go reads this field without padding.
  const field = certificate?.toString('base64').replace(/=+$/, '') ?? ''
  return `${[CORE_PROTOCOL, PROTOCOL_VERSION, network, address, 'grpc', field].join('|')}\n`
}

/** The value of TF_REATTACH_PROVIDERS that names a running provider under each of its `sources`. */
export function reattachJson(
  sources: readonly string[],
  { network, address }: PluginAddress,
  pid: number,
): string {
  const plugin = {
    Protocol: 'grpc',
    ProtocolVersion: PROTOCOL_VERSION,
    Pid: pid,
    // Terraform neither shuts down nor kills a test provider.
    Test: true,
    Addr: { Network: network, String: address },
  }
  return JSON.stringify(Object.fromEntries(sources.map((source) => [source, plugin])))
}
