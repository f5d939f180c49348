/** SETTINGS (RFC 9113, 6.5): what each side tells the other about itself. */
import { ConnectionError, ERROR } from './errors.ts'
import { frame, PAYLOAD_BYTES_MAX, TYPE } from './frames.ts'
import { RECEIVE_WINDOW_BYTES, WINDOW_BYTES_MAX } from './windows.ts'

const SETTING = {
  enablePush: 0x2,
  maxConcurrentStreams: 0x3,
  initialWindowSize: 0x4,
  maxFrameSize: 0x5,
  maxHeaderListSize: 0x6,
} as const

/** Of a setting: its id and its value. */
const SETTING_BYTES = 6
/** The largest limit of a frame's payload that the protocol permits. */
const FRAME_SIZE_MAX = 0xffffff

/** Calls of a connection at a time. */
export const STREAMS_MAX = 1_000
/** Limit of a request's headers, counted as RFC 9113 (6.5.2) does: 32 bytes are added for each. */
export const HEADERS_BYTES_MAX = 64 * 1024

/** The SETTINGS of this server. */
export function ownSettings(): Buffer {
  const settings = [
    [SETTING.maxConcurrentStreams, STREAMS_MAX],
    [SETTING.initialWindowSize, RECEIVE_WINDOW_BYTES],
    [SETTING.maxHeaderListSize, HEADERS_BYTES_MAX],
  ] as const
  const payload = Buffer.allocUnsafe(SETTING_BYTES * settings.length)
  for (const [index, [id, value]] of settings.entries()) {
    payload.writeUInt16BE(id, SETTING_BYTES * index)
    payload.writeUInt32BE(value, SETTING_BYTES * index + 2)
  }
  return frame(TYPE.settings, 0, 0, payload)
}

/**
 * The window for the response on each stream that `payload` sets; `undefined` when it sets none. Throws a
 * ConnectionError for an invalid one. Pure.
 *
 * The rest needs nothing of this server: it pushes nothing, its headers use no table, and its frames are the shortest that every peer
 * has to accept.
 */
export function initialWindowOf(payload: Buffer): number | undefined {
  if (payload.length % SETTING_BYTES !== 0) throw new ConnectionError(ERROR.frameSize, 'SETTINGS are cut off')
  let initialWindow: number | undefined
  for (let at = 0; at < payload.length; at += SETTING_BYTES) {
    const [id, value] = [payload.readUInt16BE(at), payload.readUInt32BE(at + 2)]
    if (id === SETTING.enablePush && value > 1) throw invalid('ENABLE_PUSH', value)
    if (id === SETTING.maxFrameSize && (value < PAYLOAD_BYTES_MAX || value > FRAME_SIZE_MAX)) {
      throw invalid('MAX_FRAME_SIZE', value)
    }
    if (id !== SETTING.initialWindowSize) continue
    if (value > WINDOW_BYTES_MAX) {
      throw new ConnectionError(ERROR.flowControl, `INITIAL_WINDOW_SIZE is ${value}`)
    }
    initialWindow = value
  }
  return initialWindow
}

function invalid(name: string, value: number): ConnectionError {
  return new ConnectionError(ERROR.protocol, `${name} is ${value}`)
}
