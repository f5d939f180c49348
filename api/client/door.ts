import type { Dispatcher } from 'undici'

/** A request that was kept back at the last moment; `cause` is why. */
export class KeptBack extends Error {
  override readonly name = 'KeptBack'
}

/**
 * Asks `mayLeave` once more when a connection is there and the request is about to be written to it, which may be long
 * after it was handed over: other requests were before it, or the process stood still. What it throws keeps the
 * request here, and is the cause of the KeptBack that the request fails with.
 */
export function door(mayLeave: () => void): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart(controller, context) {
        try {
          mayLeave()
        } catch (cause) {
          throw new KeptBack('kept back', { cause })
        }
        handler.onRequestStart?.(controller, context)
      },
      onResponseStart: (...answer) => handler.onResponseStart?.(...answer),
      onResponseData: (...chunk) => handler.onResponseData?.(...chunk),
      onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
      onResponseError: (...failure) => handler.onResponseError?.(...failure),
    })
}
