/** A closing terminal sends SIGHUP, also with `nohup`, whose setting Node overrides: it must not lose data either. */
const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** Resolves to the first signal that asks this process to stop. A second one ends the process at once. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals): void => {
      for (const each of STOP_SIGNALS) process.off(each, stop)
      resolve(signal)
    }
    for (const each of STOP_SIGNALS) process.on(each, stop)
  })
}
