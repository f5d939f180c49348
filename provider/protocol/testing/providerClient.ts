/** A gRPC client of a provider: one promise per RPC. */
import { type ChannelCredentials, Client, credentials, type ServiceError } from '@grpc/grpc-js'
import { PATHS } from '../plugin/paths.ts'
import type { MessageOf } from '../wire/message.ts'
import { RPCS, type RpcName, rpcPath } from '../wire/tfplugin6.ts'

/** A method of a provider. */
interface Method<Request, Response> {
  readonly path: string
  requestSerialize(value: Partial<Request>): Buffer
  responseDeserialize(bytes: Buffer): Response
}

/** A connection to a provider. */
export interface ProviderClient {
  /** Calls any method. Rejects with grpc-js' ServiceError, which has `code` and `details`. */
  call<Request, Response>(method: Method<Request, Response>, request: Partial<Request>): Promise<Response>
  /** Calls a method whose response is a stream; resolves with all its messages. Rejects like `call`. */
  collect<Request, Response>(
    method: Method<Request, Response>,
    request: Partial<Request>,
  ): Promise<readonly Response[]>
  /** Opens a stream from the server, such as GRPCStdio, and leaves it open as Terraform does. */
  openStream(path: string): void
  close(): void
}

const MESSAGE_BYTES_MAX = 256 * 1024 * 1024

/** The method with which Terraform ends a plugin. Neither message has fields. */
const shutdown: Method<object, object> = {
  path: PATHS.shutdown,
  requestSerialize: () => Buffer.alloc(0),
  responseDeserialize: () => ({}),
}

/** The methods of a provider and of its controller, for `call`. */
export const METHODS = { ...providerMethods(), Shutdown: shutdown }

type ProviderMethods = {
  readonly [Name in RpcName]: Method<
    MessageOf<(typeof RPCS)[Name]['request']>,
    MessageOf<(typeof RPCS)[Name]['response']>
  >
}

function providerMethods(): ProviderMethods {
  const entries = Object.entries(RPCS).map(([name, { request, response }]) => [
    name,
    { path: rpcPath(name), requestSerialize: request.encode, responseDeserialize: response.decode },
  ])
  // True because each RPC has the codecs of its messages.
  return Object.fromEntries(entries) as ProviderMethods
}

/** Connects to `target` (`unix:/path` or host and port). Without `security` the connection is not encrypted. */
export function connect(target: string, security?: ChannelCredentials): ProviderClient {
  const client = new Client(target, security ?? credentials.createInsecure(), {
    'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
    'grpc.max_send_message_length': MESSAGE_BYTES_MAX,
    // The name in the provider's certificate, which is the same for every address.
    'grpc.ssl_target_name_override': 'localhost',
    'grpc.default_authority': 'localhost',
    // Connections are not shared: grpc-js would reuse one that was made with another certificate.
    'grpc.use_local_subchannel_pool': 1,
  })
  return {
    call: (method, request) =>
      new Promise((resolve, reject) => {
        client.makeUnaryRequest(
          method.path,
          (value) => method.requestSerialize(value),
          (bytes) => method.responseDeserialize(bytes),
          request,
          (error: ServiceError | null, response) => {
            if (error !== null) reject(error)
            else if (response === undefined) reject(new Error(`${method.path} responded without a message`))
            else resolve(response)
          },
        )
      }),
    collect: (method, request) =>
      new Promise((resolve, reject) => {
        const stream = client.makeServerStreamRequest(
          method.path,
          (value: typeof request) => method.requestSerialize(value),
          (bytes) => method.responseDeserialize(bytes),
          request,
        )
        const events: ReturnType<typeof method.responseDeserialize>[] = []
        stream.on('data', (event) => void events.push(event))
        stream.on('error', reject)
        stream.on('end', () => resolve(events))
      }),
    openStream: (path) => {
      const none = (): Buffer => Buffer.alloc(0)
      const stream = client.makeServerStreamRequest(path, none, (bytes) => bytes, {})
      stream.on('data', () => undefined)
      // The stream always ends with an error, because the provider ends first.
      stream.on('error', () => undefined)
    },
    close: () => client.close(),
  }
}
